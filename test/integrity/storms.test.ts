import { expect, test } from '@jest/globals';
import { storm } from './support/storms.ts';

/** Some seconds; `INTEGRITY_STORMS=1000` before the command that runs this test looks longer. */
const STORMS = Number(process.env.INTEGRITY_STORMS ?? 10);

test('a run stays consistent, whatever happens to its workers', async () => {
  let looks = 0;
  for (let seed = 1; seed <= STORMS; seed += 1) {
    await storm(seed, async (bench) => {
      looks += 1;
      const problems = await bench.check();
      if (problems.some(({ code }) => code !== 'INTERRUPTED_WITH_HANDOFF'))
        throw new Error(`seed ${seed}, run ${bench.runId}: ${JSON.stringify(problems)}`);
    });
  }
  expect(looks).toBeGreaterThan(STORMS);
}, 600_000);
