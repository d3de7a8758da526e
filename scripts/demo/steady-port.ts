/** Finds a port that a server can use again after a restart. */
import { randomInt } from 'node:crypto';
import { isFree } from '../../packages/local/src/dev/ports.ts';

/** Below the ephemeral ports of the system, which begin at 32768 on Linux and at 49152 elsewhere. */
const FIRST = 20_000;
const END = 32_000;

export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
}
