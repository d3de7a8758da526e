/** Randomness that cannot be guessed, for ids, and cheap randomness for jitter. */
import { randomBytes } from 'node:crypto';
import { ID_BYTES, makeRunId } from '../core/ids.ts';
import type { Randomness } from '../ports/randomness.ts';

export const systemRandomness: Randomness = {
  unit: Math.random,
  token: () => randomBytes(16).toString('hex'),
  runId: () => makeRunId(randomBytes(ID_BYTES)),
};
