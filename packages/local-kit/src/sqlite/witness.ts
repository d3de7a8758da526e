/**
 * Detects lost commits, because SQLite silently drops the rest of its write-ahead log after a damaged frame. Each commit increments a
 * counter in the database, and the newest number is written to a file beside it. At the next start the two are compared. After an orderly
 * shutdown that file also contains a checksum of the database.
 *
 * Must not: require more durability than the commits have. The file is not synced at each commit, so after a power cut it may have an older
 * number, which requires fewer commits.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { CORRUPT, NOT_A_DATABASE, resultCode } from './result-codes.ts';
import { syncFolder } from './sync-folder.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS commits (
    id INTEGER PRIMARY KEY CHECK (id = 0), number INTEGER NOT NULL, at REAL NOT NULL) STRICT;
  INSERT INTO commits SELECT 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM commits);`;
const COUNT = "UPDATE commits SET number = ?, at = unixepoch('subsec')";
const READ_BYTES = 4 * 1024 * 1024;
/** Time for which a server that is ending may keep the file. */
const HANDOVER_MS = 2_000;

/**
 * Setting of a database in WAL mode. `FULL` syncs the log at each commit; `NORMAL` leaves that to the operating system.
 * Source: https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export const synchronous = (sync: boolean) => `PRAGMA synchronous = ${sync ? 'FULL' : 'NORMAL'};`;

/**
 * Format of the files of all servers, stored as `user_version` of each database; files without it have 0. Increment it with each change
 * after which an earlier version would misread or lose data.
 */
export const DATA_FORMAT = 1;

/** Size of the database header, which contains `user_version`. Source: https://www.sqlite.org/fileformat.html#the_database_header */
const HEAD_BYTES = 100;
const FORMAT_AT = 60;

/**
 * Files that this process has open in SQLite, by identity, with the number of owners. They must not be opened by other means, because closing
 * any descriptor of a file releases all locks of the process on it; then another server could open the file.
 * Source: https://www.sqlite.org/howtocorrupt.html (2.2)
 */
const openHere = new Map<string, number>();

/** Identity of a file, because a path may have several spellings. */
function identityOf(file: string): string {
  const { dev, ino } = statSync(file, { bigint: true });
  return `${dev}:${ino}`;
}

interface MarkParams {
  readonly file: string;
  /** Format in the header of the file, as {@link checkDatabase} returned it. */
  readonly format: number;
}

/**
 * Writes the format to the header of a database that was just opened for writing, where it can be read without SQLite. Call before the schema
 * is changed.
 *
 * @throws NewerDataError if the log, but not the header, has the format of a later version
 */
export function markFormat(db: DatabaseSync, { file, format }: MarkParams): void {
  const found = Number(db.prepare('PRAGMA user_version').get()?.user_version);
  if (found > DATA_FORMAT) throw newerData(file, found);
  if (found < DATA_FORMAT) db.exec(`PRAGMA user_version = ${DATA_FORMAT}`);
  if (format === DATA_FORMAT) return;
  if (db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy !== 0)
    throw new Error(`${file} is in use by another process: its format could not be written.`);
}

/** A later version wrote the file in an unknown format. */
export class NewerDataError extends Error {
  override readonly name = 'NewerDataError';
}

/** The message describes the loss and how to continue. */
export class DamagedDataError extends Error {
  override readonly name = 'DamagedDataError';
}

export class Witness {
  readonly #db: DatabaseSync;
  readonly #next: StatementSync;
  readonly #file: string | undefined;
  readonly #fd: number | undefined;
  readonly #sync: boolean;
  readonly #identity: string | undefined;
  /** Number of the newest commit. Only this process writes to the database. */
  #number = 0;

  /**
   * @param file file of the database; undefined if it is in memory
   * @param sync true: the file of the number is on disk when this returns, because a file that a power cut left empty would be refused as
   *   unreadable. Later numbers overwrite it in place, within one sector
   */
  constructor(db: DatabaseSync, file: string | undefined, sync = false) {
    db.exec(SCHEMA);
    this.#db = db;
    this.#next = db.prepare(COUNT);
    this.#file = file;
    this.#sync = sync;
    if (file === undefined) return;
    this.#number = Number(db.prepare('SELECT number FROM commits').get()?.number);
    const fd = openSync(besides(file), existsSync(besides(file)) ? 'r+' : 'w+');
    try {
      writeSync(fd, line(this.#number), 0);
      if (sync) {
        fsyncSync(fd);
        syncFolder(dirname(file));
      }
      this.#identity = identityOf(file);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.#fd = fd;
    openHere.set(this.#identity, (openHere.get(this.#identity) ?? 0) + 1);
  }

  /** Runs `work` as one counted transaction. @throws errors of `work` and of the database, after a rollback */
  transaction<Result>(work: () => Result): Result {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      const result = work();
      this.count();
      this.#db.exec('COMMIT');
      this.record();
      return result;
    } catch (error) {
      // If the disk is full, SQLite may already have rolled back.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Call inside each transaction that {@link transaction} does not run. */
  count(): void {
    if (this.#fd === undefined) return;
    this.#next.run(this.#number + 1);
  }

  /** Call after the commit, before it is acknowledged. */
  record(): void {
    if (this.#fd === undefined) return;
    this.#number += 1;
    writeSync(this.#fd, line(this.#number), 0);
  }

  /** Call after the database was closed. */
  close(): void {
    if (this.#fd === undefined || this.#file === undefined) return;
    this.#leave();
    if (!existsSync(logOf(this.#file))) writeSync(this.#fd, line(this.#number, checksum(this.#file)), 0);
    if (this.#sync) fsyncSync(this.#fd);
    closeSync(this.#fd);
  }

  /** Call instead of {@link close} if the owner cannot be created. Records no orderly shutdown. */
  abandon(): void {
    this.#leave();
    if (this.#fd !== undefined) closeSync(this.#fd);
  }

  #leave(): void {
    if (this.#identity === undefined) return;
    const others = (openHere.get(this.#identity) ?? 1) - 1;
    if (others > 0) openHere.set(this.#identity, others);
    else openHere.delete(this.#identity);
  }
}

export interface Checking {
  readonly file: string;
  /** True: renames damaged files to `*.damaged` and continues with the readable data. */
  readonly acceptDamage: boolean;
}

/**
 * Call before the database is opened for writing.
 *
 * @returns the format in the header of the file
 * @throws NewerDataError; DamagedDataError unless damage is accepted
 */
export function checkDatabase({ file, acceptDamage }: Checking): number {
  // Checked first, because a later format may store the number of commits in another way.
  const format = formatOf(file);
  if (format > DATA_FORMAT) throw newerData(file, format);
  const damage = damageOf(file);
  if (damage === undefined) return format;
  if (!acceptDamage) {
    throw new DamagedDataError(
      `${file} is damaged: ${damage}\nRestore a copy of the data directory, or start with --accept-damage, which keeps the data that can be read, and the current files as *.damaged.`,
    );
  }
  const putAside = isUsable(file) ? copyFileSync : renameSync;
  for (const part of [file, logOf(file), besides(file)])
    if (existsSync(part)) putAside(part, `${part}.damaged`);
  return formatOf(file);
}

function newerData(file: string, format: number): NewerDataError {
  return new NewerDataError(
    `${file} was written by a later version of Cairn (format ${format} of its data; this version knows ${DATA_FORMAT}). The file was not changed. Install that version again, or choose another directory with --data.`,
  );
}

/** 0 for a file without a format or with damage. Read without SQLite, which would create files beside it. */
function formatOf(file: string): number {
  if (!existsSync(file) || openHere.has(identityOf(file))) return 0;
  const fd = openSync(file, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const isWhole = readSync(fd, head, 0, HEAD_BYTES, 0) === HEAD_BYTES;
    return isWhole && head.toString('latin1').startsWith('SQLite format 3\0')
      ? head.readUInt32BE(FORMAT_AT)
      : 0;
  } finally {
    closeSync(fd);
  }
}

function damageOf(file: string): string | undefined {
  const noted = readNote(file);
  if (noted === 'unreadable') return `${besides(file)}, which records the number of commits, cannot be read.`;
  // SQLite would delete the log of an empty database.
  if (sizeOf(file) === 0) {
    const problem = existsSync(file) ? 'it is empty' : 'it is missing';
    if (noted && noted.number > 0) return `${problem}, with ${noted.number} commits.`;
    return sizeOf(logOf(file)) > 0 ? `${problem}, with a log of commits (${logOf(file)}).` : undefined;
  }
  if (noted?.checksum !== undefined && !existsSync(logOf(file)) && noted.checksum !== checksum(file))
    return 'its content changed since the local cloud ended.';
  const found = newestCommit(file);
  if (typeof found === 'string') return found;
  if (noted === undefined || found.number >= noted.number) return undefined;
  const since = found.at > 0 ? ` after ${new Date(found.at * 1000).toISOString()}` : '';
  return `of ${noted.number} acknowledged commits only the first ${found.number} can be read; the last ${noted.number - found.number} are lost (those${since}).`;
}

/** 0 for a file that does not exist. */
const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The newest readable commit, or a description of the damage. */
function newestCommit(file: string): { readonly number: number; readonly at: number } | string {
  return unlessDamaged(file, (db) => {
    const problem = quickCheck(db);
    if (problem !== undefined) return `${problem}.`;
    const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'commits'").get();
    const row = known && db.prepare('SELECT number, at FROM commits').get();
    return { number: Number(row?.number ?? 0), at: Number(row?.at ?? 0) };
  });
}

/** The first damage of the content of a database, in one line. */
export function quickCheck(db: DatabaseSync): string | undefined {
  const result = String(Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})[0]);
  return result === 'ok' ? undefined : result.replaceAll('\n', ' ');
}

/** True if a server can continue with the readable data: at least the beginning of each table. */
function isUsable(file: string): boolean {
  if (sizeOf(file) === 0) return false;
  const problem = unlessDamaged(file, (db) => {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const { name } of tables) db.prepare(`SELECT 1 FROM "${String(name)}" LIMIT 1`).get();
    return undefined;
  });
  return problem === undefined;
}

/** Reads from the database, or returns a description of the damage that SQLite finds. */
function unlessDamaged<T>(file: string, read: (db: DatabaseSync) => T): T | string {
  const db = new DatabaseSync(file, { readOnly: true, timeout: HANDOVER_MS });
  try {
    return read(db);
  } catch (error) {
    const code = resultCode(error);
    if (code !== CORRUPT && code !== NOT_A_DATABASE) throw error;
    return `${(error as Error).message}.`;
  } finally {
    db.close();
  }
}

const besides = (file: string) => `${file}-commits`;

/** SQLite's write-ahead log of a database. */
export const logOf = (file: string) => `${file}-wal`;

/** Lines have a constant length, so that one write replaces the previous line. */
const line = (number: number, sum?: number) =>
  `${String(number).padStart(16, '0')} ${sum === undefined ? '-'.repeat(8) : hex(sum)} ${hex(crc32(`${number} ${sum ?? ''}`))}\n`;

const hex = (value: number) => value.toString(16).padStart(8, '0');

interface Note {
  readonly number: number;
  readonly checksum: number | undefined;
}

/** Undefined if an earlier version without this file wrote the data, or if there is no data yet. */
function readNote(file: string): Note | 'unreadable' | undefined {
  if (!existsSync(besides(file))) return undefined;
  const text = readFileSync(besides(file), 'utf8');
  const [number = '', sum = ''] = text.split(' ');
  const note = { number: Number(number), checksum: /^-+$/.test(sum) ? undefined : Number.parseInt(sum, 16) };
  return text === line(note.number, note.checksum) ? note : 'unreadable';
}

function checksum(file: string): number {
  const fd = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(READ_BYTES);
    let sum = 0;
    for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer))
      sum = crc32(buffer.subarray(0, read), sum);
    return sum;
  } finally {
    closeSync(fd);
  }
}
