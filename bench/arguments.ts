/** The flags of `npm run bench`. Pure: reads a list of words, prints and exits nothing. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

export const WORKLOADS = [
  'start',
  'cost',
  'W1',
  'W2',
  'W3',
  'W4',
  'W5',
  'W1-warm',
  'W6',
  'recovery',
  'recovery-lost',
  'recovery-crowd',
  'large-map',
  'cold-start',
  'discovery',
  'reload',
  'install',
] as const;
export type WorkloadName = (typeof WORKLOADS)[number];

/** Measured only if named in `--only`, because it depends on the npm registry. */
const BY_NAME_ONLY: WorkloadName = 'install';

/** Storage of the measured cloud. `sync` writes each commit to disk before it is acknowledged, like other engines. */
export type BenchData = 'memory' | 'sqlite' | 'sync';

export interface BenchArguments {
  readonly json: boolean;
  readonly help: boolean;
  readonly peers: boolean;
  readonly only: ReadonlySet<WorkloadName>;
  readonly data: BenchData;
  readonly workers: number;
  /** For W1: number of runs. */
  readonly runs: number;
  /** For the comparison with other engines: number of alternating measurements. */
  readonly rounds: number;
}

export const flag = { type: 'boolean', default: false } as const;
/** A value, by its default. */
export const text = (value: string) => ({ type: 'string', default: value }) as const;

/** Invalid arguments. The message names the argument and the reason. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const USAGE = `npm run bench -- [options]

  --only A,B,…       of ${WORKLOADS.join(', ')} (default: all but ${BY_NAME_ONLY})
  --data memory      keep the state in memory (default: sqlite, in a folder that is deleted afterwards)
  --data sync        the same folder, with each commit on the disk before it is acknowledged (npm start -- --sync)
  --workers N        worker processes that run the functions (default 1)
  --runs N           runs measured by W1 (default 60)
  --peers            also run W1 to W5 with --data sync, and on the other engines installed in the folder PEERS names,
                     by turns, and print ratios
  --rounds N         how often, by turns, with --peers (default 2)
  --json             print nothing but the line of JSON
  --help             print this
`;

const MAX_RUNS = 10_000;
const MAX_WORKERS = 64;
/** A round takes several minutes. */
const MAX_ROUNDS = 20;

export function readArguments(words: readonly string[]): BenchArguments {
  const given = parsed(words, {
    json: flag,
    help: flag,
    peers: flag,
    only: text(WORKLOADS.filter((name) => name !== BY_NAME_ONLY).join(',')),
    data: text('sqlite'),
    workers: text('1'),
    runs: text('60'),
    rounds: text('2'),
  });
  return {
    ...given,
    only: new Set(given.only.split(',').map(workload)),
    data: storage(given.data),
    workers: integer('--workers', given.workers, MAX_WORKERS),
    runs: integer('--runs', given.runs, MAX_RUNS),
    rounds: integer('--rounds', given.rounds, MAX_ROUNDS),
  };
}

/** @throws UsageError */
export function parsed<T extends ParseArgsOptionsConfig>(words: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function workload(name: string): WorkloadName {
  const known = WORKLOADS.find((one) => one === name);
  if (known) return known;
  throw new UsageError(`--only knows ${WORKLOADS.join(', ')}, not '${name}'`);
}

function storage(text: string): BenchData {
  if (text === 'memory' || text === 'sqlite' || text === 'sync') return text;
  throw new UsageError(`--data is memory, sqlite or sync, not '${text}'`);
}

/** @throws UsageError */
export function integer(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw new UsageError(`${flag} is a whole number from 1 to ${most}, not '${text}'`);
}
