/**
 * Lock that allows one cloud per data directory. It is a file lock of the operating system (through SQLite), which ends with
 * its process; a pid could have been reused.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export class DataDirBusyError extends Error {
  constructor(dir: string, pid: string) {
    super(`${dir} is used by another local cloud (pid ${pid}); stop it, or choose another --data`);
    this.name = 'DataDirBusyError';
  }
}

/** Locks the directory until the returned function is called or the process ends. */
export function lockDataDir(dir: string, pid: number): () => void {
  const pidFile = join(dir, 'cloud.pid');
  const database = new DatabaseSync(join(dir, 'cloud.lock'));
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (!/locked|busy/i.test(String(error))) throw error;
    throw new DataDirBusyError(dir, holder(pidFile));
  }
  writeFileSync(pidFile, `${pid}\n`);
  return () => database.close();
}

function holder(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
