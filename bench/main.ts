/**
 * `npm run bench`: measures the project as its users meet it, through the HTTP door and the queue of a local cloud.
 * Owns flags, printing and the exit code: 0 measured, 1 something failed, 2 wrong flags.
 */
import { type BenchArguments, readArguments, USAGE, UsageError } from './arguments.ts';
import { compare, table } from './comparison.ts';
import { assertPeers } from './peers.ts';
import { runSuite } from './suite.ts';

const flags = flagsOrExit();
if (flags.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const tell = (line: string) => {
  if (!flags.json) process.stdout.write(`${line}\n`);
};
const { only, data, workers, runs } = flags;
const peers = flags.peers ? peersOrExit() : undefined;
const suite = {
  data,
  workers,
  runs,
  report: (name: string, found: object) => tell(`${name.padEnd(6)}${JSON.stringify(found)}`),
};
const figures = await runSuite({ ...suite, only });
const comparison =
  peers === undefined
    ? undefined
    : await compare({ suite, rounds: flags.rounds, folder: peers, first: figures });
if (comparison) for (const line of table(comparison)) tell(line);
const line = { data, workers, ...figures, ...(comparison && { comparison }) };
process.stdout.write(`${JSON.stringify(line)}\n`);

function flagsOrExit(): BenchArguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`bench: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** What is missing is said before anything is measured. */
function peersOrExit(): string {
  const folder = process.env.PEERS;
  try {
    assertPeers(folder);
    return folder;
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n`);
    process.exit(2);
  }
}
