/**
 * `npm run bench`: measures the project as its users meet it, through the HTTP API and the queue of a local cloud.
 * Owns flags, printing and the exit code: 0 measured, 1 something failed, 2 wrong flags.
 */
import { type BenchArguments, readArguments, USAGE, UsageError } from './arguments.ts';
import { DISCOVERED_WITHIN_MS } from './codebase/discovery.ts';
import { SERVED_WITHIN_MS } from './codebase/reload.ts';
import { FIRST_ANSWER_MS } from './cold/cold-start.ts';
import { compare, table } from './comparison.ts';
import { LARGE_MAP_MOST_MB } from './large-map.ts';
import { assertPeers } from './peers.ts';
import { RECOVERS_LOST_WITHIN_MS, RECOVERS_WITHIN_MS } from './recovery.ts';
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
  report: (name: string, found: object) => tell(`${name.padEnd(9)}${JSON.stringify(found)}`),
};
const figures = await runSuite({ ...suite, only });
const comparison =
  peers === undefined
    ? undefined
    : await compare({ suite, rounds: flags.rounds, folder: peers, first: figures });
if (comparison) for (const line of table(comparison)) tell(line);
const {
  recovery,
  'recovery-lost': lost,
  'large-map': large,
  'cold-start': cold = [],
  discovery,
  reload,
} = figures;
const line = { data, workers, ...figures, ...(comparison && { comparison }) };
process.stdout.write(`${JSON.stringify(line)}\n`);
if (recovery && recovery.medianMs > RECOVERS_WITHIN_MS) {
  process.stderr.write(
    `bench: from the kill to the next step it took ${recovery.medianMs} ms; the limit is ${RECOVERS_WITHIN_MS}\n`,
  );
  process.exitCode = 1;
}
if (lost && lost.medianMs > RECOVERS_LOST_WITHIN_MS) {
  process.stderr.write(
    `bench: without its task it took ${lost.medianMs} ms from the kill to the next step; the limit is ${RECOVERS_LOST_WITHIN_MS}\n`,
  );
  process.exitCode = 1;
}
if ((large?.peakMb ?? 0) > LARGE_MAP_MOST_MB) {
  process.stderr.write(`bench: a process held ${large?.peakMb} MB; the limit is ${LARGE_MAP_MOST_MB}\n`);
  process.exitCode = 1;
}
for (const { name, loadMs, answerMs } of cold) {
  if (loadMs + answerMs <= FIRST_ANSWER_MS) continue;
  process.stderr.write(
    `bench: the first answer of ${name} took ${loadMs + answerMs} ms of CPU; the limit is ${FIRST_ANSWER_MS}\n`,
  );
  process.exitCode = 1;
}
if (discovery && discovery.medianMs > DISCOVERED_WITHIN_MS) {
  process.stderr.write(
    `bench: ${discovery.workflows} workflows were discovered in ${discovery.medianMs} ms; the limit is ${DISCOVERED_WITHIN_MS}\n`,
  );
  process.exitCode = 1;
}
if (reload && reload.medianMs > SERVED_WITHIN_MS) {
  process.stderr.write(
    `bench: an edit was served after ${reload.medianMs} ms; the limit is ${SERVED_WITHIN_MS}\n`,
  );
  process.exitCode = 1;
}

function flagsOrExit(): BenchArguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`bench: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** Reports missing engines before the measurement starts. */
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
