/** Parses the flags of `npm start`. Pure: neither prints nor exits. */
import { parseArgs } from 'node:util';

export type StartArguments = Readonly<ReturnType<typeof readArguments>>;

/** An argument is invalid; the message names it and the reason. */
export class ArgumentsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArgumentsError';
  }
}

export const USAGE = `npm start -- [options]

  --json           print one line of JSON when ready, and nothing else, on
                   standard output, and serve no edits; npm start --silent
                   leaves out npm's banner
  --data DIR       keep state in DIR (default .cairn); 'memory' keeps nothing
  --sync           acknowledge a commit once it is on the disk, so that it
                   survives a power cut; slower
  --port N         port of the gateway (default 8080 if it is free, any free one
                   with --json)
  --workers N      worker processes that run steps (default 1); requests share
                   them until a body blocks one
  --no-spare       start no spare worker: a worker that dies is replaced once
                   another has loaded
  --watchdog S     kill a worker that sends no heartbeat for S seconds
                   (default 90), or is stopped (SIGSTOP) for a ninth of that
  --tick SECONDS   length of a minute in 'every N minutes' (default 5;
                   production: 60)
  --accept-damage  start with the readable data of damaged files, and keep the
                   files as *.damaged
  --project ID     project id (default demo-cairn)
  --functions FILE module whose exports are served
                   (default: examples/order/functions.ts)
  --emulators      run the functions in the emulator of firebase-tools
                   (see npm run emulators)
  --official       with --emulators: also use Google's Firestore emulator; needs
                   Java
  --verbose        print the whole stack of functions that cannot be loaded
  --help           print this
`;

const MAX_WORKERS = 64;

export function readArguments(words: readonly string[]) {
  const values = parse(words);
  const { json, help, data, port, workers, watchdog, tick, project, functions, emulators, official } = values;
  if (emulators && (workers ?? watchdog ?? functions ?? values['no-spare']) !== undefined) {
    throw new ArgumentsError(
      '--workers, --no-spare, --watchdog and --functions cannot be combined with --emulators: firebase-tools serves the folder functions/',
    );
  }
  if (values.sync && data === 'memory')
    throw new ArgumentsError('--sync requires a folder: --data memory keeps nothing');
  if (official && !emulators) throw new ArgumentsError('--official requires --emulators');
  return {
    json: json ?? false,
    help: help ?? false,
    verbose: values.verbose ?? false,
    data: nonEmpty('--data', data) ?? '.cairn',
    /** Undefined: the default port if it is free, otherwise any free port. */
    port: port === undefined ? undefined : integer('--port', port, { least: 0, most: 65_535 }),
    workers: workers === undefined ? 1 : integer('--workers', workers, { least: 1, most: MAX_WORKERS }),
    watchdogSeconds: watchdog === undefined ? undefined : seconds('--watchdog', watchdog, 3_600),
    keepsSpare: values['no-spare'] !== true,
    tickSeconds: tick === undefined ? 5 : seconds('--tick', tick, 60),
    projectId: projectId(nonEmpty('--project', project)),
    functionsModule: nonEmpty('--functions', functions),
    emulators: emulators ?? false,
    official: official ?? false,
    acceptDamage: values['accept-damage'] ?? false,
    sync: values.sync ?? false,
  };
}

function parse(words: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...words],
      options: {
        json: flag,
        help: flag,
        verbose: flag,
        data: text,
        port: text,
        workers: text,
        'no-spare': flag,
        watchdog: text,
        tick: text,
        project: text,
        functions: text,
        emulators: flag,
        official: flag,
        'accept-damage': flag,
        sync: flag,
      },
    }).values;
  } catch (error) {
    throw new ArgumentsError((error as Error).message);
  }
}

function integer(flag: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new ArgumentsError(`${flag} must be a whole number from ${least} to ${most}, not '${text}'`);
  }
  return value;
}

function seconds(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (!(value > 0 && value <= most)) {
    throw new ArgumentsError(`${flag} must be more than 0 and at most ${most} seconds, not '${text}'`);
  }
  return value;
}

function nonEmpty(flag: string, text: string | undefined): string | undefined {
  if (text === '') throw new ArgumentsError(`${flag} needs a value`);
  return text;
}

/** Google's rule for project ids. */
function projectId(text: string | undefined): string | undefined {
  if (text !== undefined && !/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(text)) {
    throw new ArgumentsError(
      `--project must have 6 to 30 lower-case letters, digits and hyphens and start with a letter, not '${text}'`,
    );
  }
  return text;
}
