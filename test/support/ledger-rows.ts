/** Shape of the ledger rows that tests with faults leave in memory, where no codec has seen them. */
import type { EffectRecord } from '../../packages/cairn/src/core/effects/effect.ts';
import type { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import { effectCodec } from '../../packages/cairn/src/store/codec/effect.ts';

/** Throws unless each row has only members that go with its status. */
export function assertRows({ effects }: Pick<MemoryDatabase, 'effects'>): void {
  for (const { record } of effects.values()) effectCodec.encode(inWholeMilliseconds(record));
}

/** Simulated clocks have fractions, which no store keeps. */
function inWholeMilliseconds(record: EffectRecord): EffectRecord {
  const whole = (_: string, value: unknown) => (typeof value === 'number' ? Math.round(value) : value);
  return JSON.parse(JSON.stringify(record), whole) as EffectRecord;
}
