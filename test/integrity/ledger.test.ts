import { expect, test } from '@jest/globals';
import type { EffectRecord } from '../../packages/cairn/src/core/effects/effect.ts';
import type { Bench } from './support/bench.ts';
import { acted, doubtful } from './support/runs.ts';

/** There to be read by people, or by the call that was made: nothing else tells what they should say. */
const UNVOUCHED: ReadonlySet<string> = new Set([
  'bindingCallId',
  'bindingId',
  'blockedBy',
  'call',
  'createdAt',
  'effectClass',
  'error',
  'lateAnswer',
  'replayPolicy',
  'requestText',
  'resolution',
  'runId',
  'updatedAt',
]);

test.each([
  ['that has acted', acted],
  ['in doubt', doubtful],
])(
  'each member of a row of a run %s that the journal vouches for is reported if it is changed',
  async (_name, make) => {
    const bench = await make();
    const [row] = rowsOf(bench);
    const vouched = Object.keys(row ?? {}).filter((name) => !UNVOUCHED.has(name));
    expect(vouched.length).toBeGreaterThan(10);
    const { effects } = bench.world.db;
    const whole = [...effects];
    for (const name of vouched) {
      for (const [id, stored] of whole) {
        const value = stored.record[name as keyof EffectRecord];
        const other = typeof value === 'number' ? value + 1 : `${value}x`;
        effects.set(id, { ...stored, record: { ...stored.record, [name]: other } });
      }
      expect([name, await bench.codes()]).toEqual([name, ['EFFECT_DIFFERENT']]);
      for (const [id, stored] of whole) effects.set(id, stored);
    }
  },
);

function rowsOf({ world }: Bench): EffectRecord[] {
  return [...world.db.effects.values()].map(({ record }) => record);
}
