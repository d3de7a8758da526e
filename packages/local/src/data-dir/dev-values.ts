/**
 * Generated values of a data directory: the secret of the API key, a value for each secret that the functions declare, the
 * ports of the functions (waiting tasks name them), and the offset of the clock. Kept in one file, readable by its owner only,
 * so that they are the same at each start. Without a file (memory mode) they last as long as the process.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { storageError } from '@cairn/local-kit/sqlite/storage-full';
import { syncFolder } from '@cairn/local-kit/sqlite/sync-folder';
import { DamagedDataError } from '@cairn/local-kit/sqlite/witness';

interface Values {
  readonly apiSecret: string;
  readonly secrets: Record<string, string>;
  readonly functionsPorts: readonly number[];
  readonly clockOffsetMs: number;
}

export interface DevValues {
  readonly apiSecret: string;
  /** The value of a secret, made on first use. */
  secret(name: string): string;
  /** Ports of the functions in earlier starts, the latest last. */
  readonly functionsPorts: readonly number[];
  rememberFunctionsPort(port: number): void;
  /** Offset of the clock from the machine's at its last move. */
  readonly clockOffsetMs: number;
  rememberClock(offsetMs: number): void;
}

/** File system calls that the values need. */
export interface Disk {
  /** Writes and syncs a file that only its owner can read. */
  write(file: string, text: string): void;
  syncFolder(folder: string): void;
}

/** Number of previous ports that are kept. */
const MAX_PORTS = 32;

/**
 * A value that cannot be stored is not changed.
 *
 * @param freshSecret returns 32 URL-safe characters
 * @throws StorageFullError, as does each change of a value
 */
export function openDevValues(
  file: string | undefined,
  freshSecret: () => string,
  disk: Disk = { write: writePrivate, syncFolder },
): DevValues {
  const known = file === undefined ? undefined : read(file);
  let values: Values = known ?? {
    apiSecret: freshSecret(),
    secrets: {},
    functionsPorts: [],
    clockOffsetMs: 0,
  };
  const change = (changes: Partial<Values>) => {
    const changed = { ...values, ...changes };
    if (file !== undefined) write(file, changed, disk);
    values = changed;
  };
  if (known === undefined) change({});
  return {
    apiSecret: values.apiSecret,
    secret(name) {
      const existing = values.secrets[name];
      if (existing !== undefined) return existing;
      const made = freshSecret();
      change({ secrets: { ...values.secrets, [name]: made } });
      return made;
    },
    get functionsPorts() {
      return values.functionsPorts;
    },
    rememberFunctionsPort(port) {
      const { functionsPorts } = values;
      if (functionsPorts.at(-1) === port) return;
      const others = functionsPorts.filter((known) => known !== port);
      change({ functionsPorts: [...others, port].slice(-MAX_PORTS) });
    },
    get clockOffsetMs() {
      return values.clockOffsetMs;
    },
    rememberClock(offsetMs) {
      change({ clockOffsetMs: offsetMs });
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
  const values = parsed(text);
  const wrong = Object.entries(RULES).find(([name, isValid]) => !isValid(values[name]))?.[0];
  if (wrong !== undefined) {
    throw new DamagedDataError(
      `${file} is damaged, or not of the local cloud: its member '${wrong}' has an invalid value. ` +
        'Choose another directory with --data, or delete the file: then a new one with another API key is created.',
    );
  }
  const { apiSecret, secrets, functionsPorts = [], clockOffsetMs = 0 } = values as unknown as Values;
  // Members of a later version are kept.
  return { ...values, apiSecret, secrets: { ...secrets }, functionsPorts, clockOffsetMs };
}

const isSecret = (value: unknown) => typeof value === 'string' && value !== '';
const isPort = (value: unknown) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;

/** Checks for each member. Earlier versions wrote files without the ports and the clock offset. */
const RULES: Readonly<Record<keyof Values, (value: unknown) => boolean>> = {
  apiSecret: isSecret,
  secrets: (value) => isObject(value) && Object.values(value).every(isSecret),
  functionsPorts: (value) => value === undefined || (Array.isArray(value) && value.every(isPort)),
  clockOffsetMs: (value) => value === undefined || (Number.isFinite(value) && Number(value) >= 0),
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Empty if the text is not a JSON object. */
function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Writes a new file, syncs and renames it, so that a crash or a power cut leaves the old values or the new ones. */
function write(file: string, values: Values, disk: Disk): void {
  try {
    disk.write(`${file}.new`, `${JSON.stringify(values, null, 2)}\n`);
    renameSync(`${file}.new`, file);
    disk.syncFolder(dirname(file));
  } catch (error) {
    rmSync(`${file}.new`, { force: true });
    throw storageError(error);
  }
}

function writePrivate(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600, flush: true });
}
