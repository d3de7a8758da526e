/** The ports of `cairn dev`: fixed and consecutive, so that links and settings stay valid between starts. */
import { createServer } from 'node:net';
import { DevProblem } from './problem.ts';

export const DEFAULT_PORT = 8080;

/** In the order of their ports; the first is the base. */
const SERVERS = ['console', 'functions', 'site', 'firestore', 'tasks', 'pubsub'] as const;
export type DevPorts = Readonly<Record<(typeof SERVERS)[number], number>>;

/** The highest base. */
export const MAX_PORT = 65_535 - SERVERS.length + 1;

/** @param base 0: any free ports */
export function portsFrom(base: number): DevPorts {
  const ports = SERVERS.map((server, place) => [server, base === 0 ? 0 : base + place]);
  return Object.fromEntries(ports) as DevPorts;
}

/** @throws DevProblem PORT_TAKEN that names the server whose port it is */
export async function assertFree(ports: DevPorts): Promise<void> {
  for (const server of SERVERS) {
    if (await isFree(ports[server])) continue;
    throw new DevProblem(
      'PORT_TAKEN',
      `port ${ports[server]} (${server}) is in use by another process`,
      `Stop that process (another cairn dev?), or choose other ports with --port: ${SERVERS.length} consecutive ports are used.`,
    );
  }
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
