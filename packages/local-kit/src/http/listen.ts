/** Listening on loopback, the only interface of the local servers. */
import type { AddressInfo, Server } from 'node:net';

/**
 * @param port 0: any free one
 * @returns the port
 * @throws the listen error, `EADDRINUSE` if the port is taken
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}
