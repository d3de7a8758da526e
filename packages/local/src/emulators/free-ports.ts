/** Recently free ports, for servers that need their port before they start. */
import { createServer, type Server } from 'node:net';

/** All different: each is held until the last one is found. */
export async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, hold));
  const ports = held.map((server) => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a port was given up too early');
    return address.port;
  });
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function hold(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
