/**
 * Lock that allows one cloud per data directory. It is a file lock of the operating system (through SQLite), which ends with
 * its process; a pid could have been reused.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export class DataDirBusyError extends Error {
  constructor(dir: string, pid: string) {
    super(`${dir} is used by another local cloud (pid ${pid}); stop it, or choose another --data`);
    this.name = 'DataDirBusyError';
  }
}

/** Thrown for a file, a read-only directory or a full disk. */
export class DataDirUnusableError extends Error {
  constructor(dir: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`${dir} cannot hold the data (${reason}); choose a writable directory with --data`, { cause });
    this.name = 'DataDirUnusableError';
  }
}

/**
 * Creates the directory if needed, and locks it until the returned function is called or the process ends.
 *
 * @throws DataDirBusyError, DataDirUnusableError
 */
export function lockDataDir(dir: string, pid: number): () => void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return lock(dir, pid);
  } catch (error) {
    throw error instanceof DataDirBusyError ? error : new DataDirUnusableError(dir, error);
  }
}

function lock(dir: string, pid: number): () => void {
  const pidFile = join(dir, 'cloud.pid');
  const database = new DatabaseSync(join(dir, 'cloud.lock'));
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (!/locked|busy/i.test(String(error))) throw error;
    throw new DataDirBusyError(dir, holder(pidFile));
  }
  try {
    writeFileSync(pidFile, `${pid}\n`);
  } catch (error) {
    database.close();
    throw error;
  }
  return () => database.close();
}

function holder(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
