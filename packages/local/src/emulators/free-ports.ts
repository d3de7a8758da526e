/** Finds free ports for servers that need their port before they start. */
import { createServer } from 'node:net';
import { listenOnLoopback } from '@cairn/local-kit/http/listen';

/** Returns distinct ports, because each is held until the last one is found. */
export async function freePorts(count: number): Promise<number[]> {
  const held = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(held.map((server) => listenOnLoopback(server)));
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
