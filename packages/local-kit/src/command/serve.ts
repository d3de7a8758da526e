/**
 * The command of a server: parses its flags, starts it, prints its address, and stops it on a signal. Owns the output, the
 * signals and the exit code: 0 stopped on request, 1 could not start, 2 invalid flags.
 */
import { isBuiltin } from 'node:module';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

export interface Flag {
  readonly name: string;
  /** Placeholder of the value in the help. */
  readonly value: string;
  readonly help: string;
  /** Set if the flag may be given several times. */
  readonly multiple?: true;
}

/** Values of the given flags. */
export interface FlagValues {
  one(name: string): string | undefined;
  all(name: string): readonly string[];
}

export interface ServerCommand {
  readonly name: string;
  readonly summary: string;
  /** The environment variable by which clients find the server. */
  readonly variable: string;
  /** Besides `port`, `data`, `sync`, `project`, `json` and `help`, which all servers have. */
  readonly flags: readonly Flag[];
  /**
   * Loads the server, after the Node version was checked. @throws FlagError for an invalid value; Error if it cannot
   * start
   */
  start(common: CommonFlags, values: FlagValues): Promise<{ readonly host: string; stop(): Promise<void> }>;
}

export interface CommonFlags {
  /** 0: any free port. */
  readonly port: number;
  /** Undefined: everything is kept in memory. */
  readonly data: string | undefined;
  readonly project: string | undefined;
  /** True: a commit is acknowledged once it is on disk. */
  readonly sync: boolean;
}

/** An invalid flag. */
export class FlagError extends Error {}

const COMMON: readonly Flag[] = [
  { name: 'port', value: 'N', help: 'port on 127.0.0.1 (default: any free port)' },
  { name: 'data', value: 'FILE', help: 'keep everything in FILE, an SQLite database (default: in memory)' },
  { name: 'project', value: 'ID', help: 'print GCLOUD_PROJECT=ID as well; any project is served' },
];
const SWITCHES: readonly (readonly [name: string, help: string])[] = [
  ['sync', 'with --data: acknowledge a change once it is on the disk, so that it survives a power cut'],
  ['json', 'print the ready line as JSON'],
  ['help', 'print this'],
];
const LAST_PORT = 65_535;

/** @param words the command line, without the program */
export async function serve(command: ServerCommand, words: readonly string[]): Promise<void> {
  try {
    const given = parse(command, words);
    if (given.help) {
      process.stdout.write(helpOf(command));
      return;
    }
    if (!isBuiltin('node:sqlite'))
      throw new Error(`Node 22.13 or later is needed; this is ${process.version}`);
    const server = await command.start(given.common, given.values);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void end(server));
    const env = {
      [command.variable]: server.host,
      ...(given.common.project === undefined ? {} : { GCLOUD_PROJECT: given.common.project }),
    };
    process.stdout.write(readyLine(command, { host: server.host, env, json: given.json }));
  } catch (error) {
    const usage = error instanceof FlagError;
    process.stderr.write(`${command.name}: ${reasonOf(error)}\n${usage ? `\n${helpOf(command)}` : ''}`);
    process.exit(usage ? 2 : 1);
  }
}

interface ServeReady {
  readonly host: string;
  readonly env: Readonly<Record<string, string>>;
  readonly json: boolean;
}

function readyLine({ name }: ServerCommand, { host, env, json }: ServeReady): string {
  if (json) return `${JSON.stringify({ ready: name, host, env })}\n`;
  return Object.entries(env)
    .map(([variable, value]) => `${variable}=${value}\n`)
    .join('');
}

async function end(server: { stop(): Promise<void> }): Promise<void> {
  await server.stop();
  process.exit(0);
}

/** @throws FlagError */
function parse(command: ServerCommand, words: readonly string[]) {
  const flags = [...COMMON, ...command.flags];
  const options: ParseArgsOptionsConfig = Object.fromEntries([
    ...flags.map(({ name, multiple = false }) => [name, { type: 'string', multiple }]),
    ...SWITCHES.map(([name]) => [name, { type: 'boolean' }]),
  ]);
  const given = valuesOf(words, options);
  const all = (name: string) => [given[name] ?? []].flat().map(String);
  const one = (name: string) => all(name).at(-1);
  return {
    help: given.help === true,
    json: given.json === true,
    common: commonOf(one, given.sync === true),
    values: { one, all },
  };
}

/** @throws FlagError */
function commonOf(one: FlagValues['one'], sync: boolean): CommonFlags {
  const data = one('data');
  if (sync && data === undefined)
    throw new FlagError('--sync requires --data FILE: without it everything is kept in memory');
  return { port: portOf(one('port') ?? '0'), data, project: one('project'), sync };
}

function valuesOf(words: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new FlagError((error as Error).message);
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= LAST_PORT) return port;
  throw new FlagError(`--port must be a whole number from 0 to ${LAST_PORT}, not '${text}'`);
}

function reasonOf(error: unknown): string {
  const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code === 'EADDRINUSE')
    return `port ${port} is in use. Choose another with --port, or omit it to use any free port`;
  return error instanceof Error ? error.message : String(error);
}

function helpOf({ name, summary, flags }: ServerCommand): string {
  const rows = [
    ...[...COMMON, ...flags].map((flag) => [`--${flag.name} ${flag.value}`, helpOfFlag(flag)] as const),
    ...SWITCHES.map(([flag, help]) => [`--${flag}`, help] as const),
  ];
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  const lines = rows.map(([left, help]) => `  ${left.padEnd(width)}${help}`);
  return `${name} [options]\n\n${summary}\n\n${lines.join('\n')}\n`;
}

function helpOfFlag({ help, multiple }: Flag): string {
  return multiple ? `${help}; may be given several times` : help;
}
