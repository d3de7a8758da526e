/** Refuses a number of shards that the functions would refuse when they start. */
import { MAX_SHARDS, SHARD_COUNT } from '../../packages/cairn/src/core/encoding/ids.ts';

/** @throws Error with the allowed range */
export function assertShards(given: string | undefined): void {
  if (given === undefined || given === '') return;
  const count = Number(given);
  if (Number.isInteger(count) && count >= SHARD_COUNT && count <= MAX_SHARDS) return;
  throw new Error(`RUN_SHARDS is ${given}; it is a whole number from ${SHARD_COUNT} to ${MAX_SHARDS}.`);
}
