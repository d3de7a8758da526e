/** Checks the shape of ledger rows in memory after tests with faults, because no codec checks them. */
import type { EffectRecord } from '../../packages/cairn/src/core/effects/effect.ts';
import type { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import { effectCodec } from '../../packages/cairn/src/store/codec/effect.ts';

/** Throws unless each row has only members that its status allows. */
export function assertRows({ effects }: Pick<MemoryDatabase, 'effects'>): void {
  for (const { record } of effects.values()) effectCodec.encode(inWholeMilliseconds(record));
}

/** Rounds times, because simulated clocks have fractions that no store keeps. */
function inWholeMilliseconds(record: EffectRecord): EffectRecord {
  const whole = (_: string, value: unknown) => (typeof value === 'number' ? Math.round(value) : value);
  return JSON.parse(JSON.stringify(record), whole) as EffectRecord;
}
