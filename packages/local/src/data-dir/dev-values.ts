/**
 * Values a developer would otherwise have to make up: the API key's secret and a value for each secret the
 * functions declare; the ports the functions were reached at, since waiting tasks name them; and how far the clock was
 * moved, since the data is of that time. Kept in one file of the data directory, readable by its owner only, so that they stay the
 * same from start to start. Without a file (memory mode) they live as long as the process.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

interface Values {
  readonly apiSecret: string;
  readonly secrets: Record<string, string>;
  functionsPorts: number[];
  clockOffsetMs: number;
}

export interface DevValues {
  readonly apiSecret: string;
  /** The value of a secret, made on first use. */
  secret(name: string): string;
  /** Where functions were reached, the latest last. */
  readonly functionsPorts: readonly number[];
  rememberFunctionsPort(port: number): void;
  /** How far the clock was ahead of the machine's when it was last moved. */
  readonly clockOffsetMs: number;
  rememberClock(offsetMs: number): void;
}

/** More former ports than this are forgotten: it takes as many starts that found their port taken. */
const MAX_PORTS = 32;

/** `freshSecret` makes 32 URL-safe characters. */
export function openDevValues(file: string | undefined, freshSecret: () => string): DevValues {
  const known = file === undefined ? undefined : read(file);
  const values: Values = known ?? {
    apiSecret: freshSecret(),
    secrets: {},
    functionsPorts: [],
    clockOffsetMs: 0,
  };
  const save = () => {
    if (file !== undefined) write(file, values);
  };
  if (known === undefined) save();
  return {
    apiSecret: values.apiSecret,
    secret(name) {
      const existing = values.secrets[name];
      if (existing !== undefined) return existing;
      const made = freshSecret();
      values.secrets[name] = made;
      save();
      return made;
    },
    get functionsPorts() {
      return values.functionsPorts;
    },
    rememberFunctionsPort(port) {
      const { functionsPorts } = values;
      if (functionsPorts.at(-1) === port) return;
      values.functionsPorts = [...functionsPorts.filter((known) => known !== port), port].slice(-MAX_PORTS);
      save();
    },
    get clockOffsetMs() {
      return values.clockOffsetMs;
    },
    rememberClock(offsetMs) {
      values.clockOffsetMs = offsetMs;
      save();
    },
  };
}

function read(file: string): Values | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const values = JSON.parse(text) as Partial<Values>;
  if (typeof values.apiSecret !== 'string' || typeof values.secrets !== 'object') {
    throw new Error(`${file} does not hold development values; remove it to have new ones made`);
  }
  return {
    apiSecret: values.apiSecret,
    secrets: { ...values.secrets },
    functionsPorts: values.functionsPorts ?? [],
    clockOffsetMs: values.clockOffsetMs ?? 0,
  };
}

/** Written beside and renamed, so that a crash leaves the old values or the new ones. */
function write(file: string, values: Values): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(values, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
