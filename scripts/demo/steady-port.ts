/** A port that a server finds again when it is started anew. */
import { randomInt } from 'node:crypto';
import { isFree } from '../../packages/local/src/dev/ports.ts';

/** Below the ports that systems give to connections and to servers that ask for any: from 32768 on Linux, from 49152 elsewhere. */
const FIRST = 20_000;
const END = 32_000;

export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
}
