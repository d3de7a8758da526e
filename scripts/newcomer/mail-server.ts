/** A mail server that holds its first request until the sender is gone, and answers the others. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MailServer {
  readonly url: string;
  /** Idempotency keys of the requests, in their order. */
  readonly keys: readonly string[];
  close(): void;
}

export async function startMailServer(): Promise<MailServer> {
  const keys: string[] = [];
  const server = createServer((request, response) => {
    keys.push(String(request.headers['idempotency-key']));
    request.resume();
    if (keys.length === 1) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ messageId: `mail-${keys.length}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/send`,
    keys,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
