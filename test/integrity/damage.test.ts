import { expect, test } from '@jest/globals';
import { storm } from './support/storms.ts';
import { type DamageTrial, trialOfDamage } from './support/trial-of-damage.ts';

/** As many as make each code common; `INTEGRITY_DAMAGES=10000` before the command that runs this test looks longer. */
const DAMAGES = Number(process.env.INTEGRITY_DAMAGES ?? 300);
const FIRST_SEED = Number(process.env.SEED ?? 50_001);
/** Damages per run and time. */
const DAMAGES_A_LOOK = 3;

test('a damaged document is reported unless its meaning is unchanged, and no repair writes a false value', async () => {
  const trials: DamageTrial[] = [];
  for (let seed = FIRST_SEED; trials.length < DAMAGES; seed += 1) {
    try {
      await storm(seed, async (whole, draw) => {
        for (let i = 0; i < DAMAGES_A_LOOK && trials.length < DAMAGES; i += 1) {
          const one = await trialOfDamage(whole, draw);
          if (one) trials.push(one);
        }
      });
    } catch (error) {
      // The storm tells all of the run; what was done to it, and what came of it, is the cause.
      throw new Error(`SEED=${seed}`, { cause: error instanceof Error ? (error.cause ?? error) : error });
    }
  }
  const ends = Map.groupBy(trials, ({ end }) => end);
  const count = (end: DamageTrial['end']) => ends.get(end)?.length ?? 0;
  // Each must have been met often enough to mean something.
  for (const end of ['repaired', 'refused'] as const)
    expect([end, count(end) > trials.length / 10]).toEqual([end, true]);
  expect(trials.filter(({ died }) => died).length).toBeGreaterThan(trials.length / 20);
  if (process.env.INTEGRITY_DAMAGES !== undefined) {
    const codes = Map.groupBy(
      trials.flatMap((one) => one.codes),
      (code) => code,
    );
    const counts = {
      trials: trials.length,
      ...Object.fromEntries([...ends].map(([end, all]) => [end, all.length])),
    };
    process.stdout.write(
      `${JSON.stringify({ ...counts, codes: [...codes].map(([code, all]) => [code, all.length]) })}\n`,
    );
  }
}, 1_800_000);
