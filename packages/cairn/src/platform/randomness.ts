/** Unpredictable randomness for ids, and cheap randomness for jitter. */
import { randomBytes } from 'node:crypto';
import { ID_BYTES, makeRunId } from '../core/encoding/ids.ts';
import type { Randomness } from '../ports/randomness.ts';

/** Bytes drawn from the system in one call, because a call per id would cost more than the id. */
const POOL_BYTES = 4_096;

let pool: Buffer = Buffer.alloc(0);

export const systemRandomness: Randomness = {
  unit: Math.random,
  token: () => idBytes().toString('hex'),
  runId: () => makeRunId(idBytes()),
};

/** Random bytes for one id. Each byte is used once. */
function idBytes(): Buffer {
  if (pool.length < ID_BYTES) pool = randomBytes(POOL_BYTES);
  const drawn = pool.subarray(0, ID_BYTES);
  pool = pool.subarray(ID_BYTES);
  return drawn;
}
