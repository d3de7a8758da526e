/** Proxy of a server that counts the bytes of its answers. */
import { connect, createServer, type Socket } from 'node:net';

export interface CountedWire {
  /** Address to use instead of the server's. */
  readonly host: string;
  /** Bytes of answers so far. */
  readonly received: number;
  close(): Promise<void>;
}

/** @param host name and port of the server */
export async function countedWire(host: string): Promise<CountedWire> {
  const [name, port] = host.split(':') as [string, string];
  const open = new Set<Socket>();
  let received = 0;
  const server = createServer((client) => {
    const behind = connect(Number(port), name);
    behind.on('data', (chunk) => {
      received += chunk.length;
    });
    for (const [socket, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      open.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => open.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { readonly port: number };
  return {
    host: `127.0.0.1:${address.port}`,
    get received() {
      return received;
    },
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
