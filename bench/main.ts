/**
 * `npm run bench`: measures the project as its users meet it, through the HTTP door and the queue of a local cloud.
 * Owns flags, printing and the exit code: 0 measured, 1 something failed, 2 wrong flags.
 */
import { type BenchArguments, readArguments, USAGE, UsageError } from './arguments.ts';
import { runSuite } from './suite.ts';

const flags = flagsOrExit();
if (flags.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const tell = (line: string) => {
  if (!flags.json) process.stdout.write(`${line}\n`);
};
const figures = await runSuite({
  ...flags,
  report: (name, found) => tell(`${name.padEnd(6)}${JSON.stringify(found)}`),
});
process.stdout.write(`${JSON.stringify({ data: flags.data, workers: flags.workers, ...figures })}\n`);

function flagsOrExit(): BenchArguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`bench: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}
