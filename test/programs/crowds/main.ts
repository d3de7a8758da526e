/**
 * `npm run crowds`: draws crowds of runs, each with one that harms its processes, on local clouds with real processes. Reports
 * whether all innocent runs completed and how many processes the hostile ones killed. The last line of standard output is the
 * totals, as JSON. The exit code is 0 only if every rule held.
 */
import { countsOf } from '../../../scripts/flags.ts';
import type { Outcome } from './judge.ts';
import { RealStage } from './real/stage.ts';

const USAGE = `npm run crowds -- [options]

  --draws N       crowds to draw (default: 20)
  --seed N        seed of the first; the others follow (default: 1)
  --clouds N      local clouds at a time (default: 1)
  --watchdog N    seconds after which a body that spins is killed (default: 10): more than a busy machine keeps a worker waiting
  --help          print this
`;

const {
  draws,
  seed: first,
  clouds,
  watchdog,
} = countsOf(USAGE, { draws: 20, seed: 1, clouds: 1, watchdog: 10 });
const left = Array.from({ length: draws }, (_, i) => first + i);
const outcomes: Outcome[] = [];
let problems = 0;

await Promise.all(Array.from({ length: clouds }, () => perform()));

const deaths = outcomes.map((outcome) => outcome.deaths);
const hostile: Record<string, number> = {};
for (const outcome of outcomes) hostile[outcome.hostile] = (hostile[outcome.hostile] ?? 0) + 1;
const totals = {
  draws: outcomes.length + problems,
  problems,
  innocentsCompleted: outcomes.reduce((sum, { innocents }) => sum + innocents, 0),
  hostile,
  mostDeaths: Math.max(0, ...deaths),
  deaths: deaths.reduce((sum, count) => sum + count, 0),
};
console.log(JSON.stringify(totals));
process.exitCode = problems === 0 ? 0 : 1;

async function perform(): Promise<void> {
  let stage: RealStage | undefined;
  for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
    const began = performance.now();
    try {
      stage ??= await RealStage.start(watchdog);
      const outcome = await stage.trial(seed);
      outcomes.push(outcome);
      const took = Math.round(performance.now() - began);
      console.error(`seed ${seed}: hostile ${outcome.hostile}, ${outcome.deaths} deaths (${took} ms)`);
    } catch (error) {
      problems += 1;
      console.error(`\n${(error as Error).message}\n`);
      // Runs of the draw may still be active.
      await stage?.stop();
      stage = undefined;
    }
  }
  await stage?.stop();
}
