/**
 * `npm run bench:scan`: measures the time of the scan for 10,000 runs whose tasks are lost, and for one lost task behind 10,000 paused
 * runs. Owns flags, printing and the exit code: 1 if the first takes two minutes or the second one minute, 2 wrong flags.
 */
import { flag, integer, parsed, text, UsageError } from '../arguments.ts';
import { lostInProcess, pausedInProcess } from './in-process.ts';
import { lostOnCloud, pausedOnCloud } from './on-cloud.ts';

const ALL_WITHIN_MS = 120_000;
const OTHER_WITHIN_MS = 60_000;
const MAX_RUNS = 100_000;
const USAGE = `npm run bench:scan -- [options]

  --cloud   the scheduled function on a local cloud, until the runs have ended
            (default: the scan alone, against a Firestore server in this process, until they are enqueued)
  --runs N  number of runs (default 10000)
  --help    print this
`;

const flags = flagsOrExit();
if (flags.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const { runs } = flags;
const lost = await (flags.cloud ? lostOnCloud(runs) : lostInProcess(runs));
process.stdout.write(`${JSON.stringify({ lost })}\n`);
const paused = await (flags.cloud ? pausedOnCloud(runs) : pausedInProcess(runs));
process.stdout.write(`${JSON.stringify({ paused })}\n`);
if (lost.ms >= ALL_WITHIN_MS) {
  process.stderr.write(
    `bench: ${runs} runs without tasks took ${lost.ms} ms; the limit is ${ALL_WITHIN_MS}\n`,
  );
  process.exitCode = 1;
}
if (paused.otherMs >= OTHER_WITHIN_MS) {
  process.stderr.write(
    `bench: one run behind ${runs} paused ones took ${paused.otherMs} ms; the limit is ${OTHER_WITHIN_MS}\n`,
  );
  process.exitCode = 1;
}

function flagsOrExit() {
  try {
    const { cloud, help, runs } = parsed(process.argv.slice(2), {
      cloud: flag,
      help: flag,
      runs: text('10000'),
    });
    return { cloud, help, runs: integer('--runs', runs, MAX_RUNS) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`bench: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}
