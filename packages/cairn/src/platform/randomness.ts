/** Randomness that cannot be guessed, for ids, and cheap randomness for jitter. */
import { randomBytes } from 'node:crypto';
import { ID_BYTES, makeRunId } from '../core/encoding/ids.ts';
import type { Randomness } from '../ports/randomness.ts';

/** Bytes drawn from the system in one call: a call per id costs more than the id. */
const POOL_BYTES = 4_096;

let pool: Buffer = Buffer.alloc(0);

export const systemRandomness: Randomness = {
  unit: Math.random,
  token: () => draw(ID_BYTES).toString('hex'),
  runId: () => makeRunId(draw(ID_BYTES)),
};

/** Random bytes that are used once. */
function draw(count: number): Buffer {
  if (pool.length < count) pool = randomBytes(POOL_BYTES);
  const drawn = pool.subarray(0, count);
  pool = pool.subarray(count);
  return drawn;
}
