/**
 * Detects lost commits. SQLite silently drops the rest of its write-ahead log after a damaged frame.
 * So each commit counts itself in the database, and the number of the newest one is written into a file beside it,
 * which says at the next start how many there must be. After an orderly shutdown that file also has a checksum of the database.
 *
 * Must not: make a commit more durable than it was. The number of the newest one reaches the operating system; the disk may keep an older
 * one, which asks for fewer commits.
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
/** As long as an owner that is ending may keep the file. */
const HANDOVER_MS = 2_000;

/**
 * Setting of a database in WAL mode. `FULL` syncs the log at each commit; `NORMAL` leaves that to the operating system.
 * Source: https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export const synchronous = (sync: boolean) => `PRAGMA synchronous = ${sync ? 'FULL' : 'NORMAL'};`;

/**
 * Format of the files of all servers, kept as `user_version` of each database; files without one have 0. Raise it with each change after
 * which an earlier version would misread what is written, or lose it.
 */
export const DATA_FORMAT = 1;

/** The header of a database, and the place of its `user_version`. Source: https://www.sqlite.org/fileformat.html#the_database_header */
const HEAD_BYTES = 100;
const FORMAT_AT = 60;

/**
 * Files that this process has open in SQLite, by their identity, with the number of owners. They must not be opened by other means: closing any
 * descriptor of a file drops all locks that the process has on it, and another server could share the file.
 * Source: https://www.sqlite.org/howtocorrupt.html (2.2)
 */
const openHere = new Map<string, number>();

/** Its name may be spelled in several ways. */
function identityOf(file: string): string {
  const { dev, ino } = statSync(file, { bigint: true });
  return `${dev}:${ino}`;
}

interface MarkParams {
  readonly file: string;
  /** In the header of the file, as {@link checkDatabase} returned it. */
  readonly format: number;
}

/**
 * Marks a database that was just opened for writing with the format, in the file itself, where it is read without SQLite. Call before its schema is
 * changed.
 *
 * @throws NewerDataError if only the log has the mark of a later version
 */
export function markFormat(db: DatabaseSync, { file, format }: MarkParams): void {
  const found = Number(db.prepare('PRAGMA user_version').get()?.user_version);
  if (found > DATA_FORMAT) throw newerData(file, found);
  if (found < DATA_FORMAT) db.exec(`PRAGMA user_version = ${DATA_FORMAT}`);
  if (format === DATA_FORMAT) return;
  if (db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy !== 0)
    throw new Error(`${file} is in use by another process: its format could not be written.`);
}

/** The file was written by a later version, in a format that this one does not know. */
export class NewerDataError extends Error {
  override readonly name = 'NewerDataError';
}

/** The message has the loss and the way to continue. */
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
  /** The newest one that is committed; this process alone writes to the database. */
  #number = 0;

  /**
   * @param file of the database; undefined: it is in memory, and there is nothing to find again
   * @param sync the file of the number is on the disk when this returns: one that a power cut left empty would be refused as unreadable.
   *   Later numbers overwrite it in place, within one sector
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

  /** Carries out `work` as one counted transaction. @throws what `work` and the database throw, with nothing written */
  transaction<Result>(work: () => Result): Result {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      const result = work();
      this.count();
      this.#db.exec('COMMIT');
      this.record();
      return result;
    } catch (error) {
      // For lack of room SQLite may have rolled back already.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Call inside each other transaction. */
  count(): void {
    if (this.#fd === undefined) return;
    this.#next.run(this.#number + 1);
  }

  /** Call after its commit, before it is acknowledged. */
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

  /** Call in place of {@link close} if the rest of the owner cannot be created. Records no orderly end. */
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
  /** Puts damaged files aside as `*.damaged`, and continues with the data that can be read. */
  readonly acceptDamage: boolean;
}

/**
 * Call before the database is opened for writing.
 *
 * @returns the format in the header of the file
 * @throws NewerDataError; DamagedDataError unless damage is accepted
 */
export function checkDatabase({ file, acceptDamage }: Checking): number {
  // Before anything else is read: a later format may keep the number of commits in another way.
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

/** 0 for a file that has none, or is damaged. Read without SQLite, which would make files beside it. */
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

/** The newest readable commit, or the problem of the file. */
function newestCommit(file: string): { readonly number: number; readonly at: number } | string {
  return unlessDamaged(file, (db) => {
    const problem = quickCheck(db);
    if (problem !== undefined) return `${problem}.`;
    const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'commits'").get();
    const row = known && db.prepare('SELECT number, at FROM commits').get();
    return { number: Number(row?.number ?? 0), at: Number(row?.at ?? 0) };
  });
}

/** The first problem of the content of a database, in one line. */
export function quickCheck(db: DatabaseSync): string | undefined {
  const result = String(Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})[0]);
  return result === 'ok' ? undefined : result.replaceAll('\n', ' ');
}

/** True if a server can continue with what is readable: each table, at its beginning at least. */
function isUsable(file: string): boolean {
  if (sizeOf(file) === 0) return false;
  const problem = unlessDamaged(file, (db) => {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const { name } of tables) db.prepare(`SELECT 1 FROM "${String(name)}" LIMIT 1`).get();
    return undefined;
  });
  return problem === undefined;
}

/** Reads from the database, or returns the problem if SQLite finds damage meanwhile. */
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

/** Lines have one length, so that each overwrites the one before in one write. */
const line = (number: number, sum?: number) =>
  `${String(number).padStart(16, '0')} ${sum === undefined ? '-'.repeat(8) : hex(sum)} ${hex(crc32(`${number} ${sum ?? ''}`))}\n`;

const hex = (value: number) => value.toString(16).padStart(8, '0');

interface Note {
  readonly number: number;
  readonly checksum: number | undefined;
}

/** Undefined: written by a version without such a file, or there is no data yet. */
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
