/**
 * Values a developer would otherwise have to make up: the API key's secret and a value for each secret the
 * functions declare; the ports the functions were reached at, since waiting tasks name them; and how far the clock was
 * moved, since the data is of that time. Kept in one file of the data directory, readable by its owner only, so that they stay the
 * same from start to start. Without a file (memory mode) they live as long as the process.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageFullError } from '@cairn/local-kit/sqlite/storage-full';
import { syncFolder } from '@cairn/local-kit/sqlite/sync-folder';

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

/** The file system as far as the values need it. */
export interface Disk {
  /** Makes a file that only its owner can read; its bytes are on the disk when it returns. */
  write(file: string, text: string): void;
  /** Has the names in a folder on the disk. */
  syncFolder(folder: string): void;
}

/** More former ports than this are forgotten: it takes as many starts that found their port taken. */
const MAX_PORTS = 32;

/** Error codes of a full disk, an exceeded quota, and a disk that fails or became read-only. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

/**
 * A value that cannot be kept is not changed either: the next attempt succeeds once there is room.
 *
 * @param freshSecret makes 32 URL-safe characters
 * @throws StorageFullError from here and whatever changes a value
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
  if (typeof values.apiSecret !== 'string' || typeof values.secrets !== 'object') {
    throw new Error(`${file} does not contain development values; delete it to create new ones`);
  }
  return {
    apiSecret: values.apiSecret,
    secrets: { ...values.secrets },
    functionsPorts: values.functionsPorts ?? [],
    clockOffsetMs: values.clockOffsetMs ?? 0,
  };
}

/** Without members if it is no JSON object. */
function parsed(text: string): Partial<Values> {
  try {
    return (JSON.parse(text) ?? {}) as Partial<Values>;
  } catch {
    return {};
  }
}

/** Written beside, synced and renamed, so that a crash or a power cut leaves the old values or the new ones. */
function write(file: string, values: Values, disk: Disk): void {
  try {
    disk.write(`${file}.new`, `${JSON.stringify(values, null, 2)}\n`);
    renameSync(`${file}.new`, file);
    disk.syncFolder(dirname(file));
  } catch (error) {
    if (!NO_ROOM.has((error as NodeJS.ErrnoException).code)) throw error;
    rmSync(`${file}.new`, { force: true });
    throw new StorageFullError(error);
  }
}

function writePrivate(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600, flush: true });
}
