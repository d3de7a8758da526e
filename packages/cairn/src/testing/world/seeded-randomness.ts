/** Pseudorandom numbers that are the same in each run of a test. */
import { makeRunId } from '../../core/encoding/ids.ts';
import type { Randomness } from '../../ports/randomness.ts';

/** Each simulated process has its own seed, because owners of leases must differ. */
export function seededRandomness(seed = 1): Randomness {
  let state = seed;
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const bytes = () => Uint8Array.from({ length: 16 }, () => Math.floor(unit() * 256));
  return { unit, token: () => Buffer.from(bytes()).toString('hex'), runId: () => makeRunId(bytes()) };
}
