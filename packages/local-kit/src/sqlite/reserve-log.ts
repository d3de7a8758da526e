/**
 * Gives a write-ahead log its full length before the first commits. Syncing a file that grew takes about twice as long as syncing overwritten
 * bytes, because it writes the file system's journal too.
 */
import { closeSync, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { logOf } from './witness.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * SQLite ignores the zeros, because it reads frames only until one lacks the checksum and salt of its log. Its next frames overwrite them.
 * An orderly shutdown removes the log.
 *
 * @param database file of a database in WAL mode that is open and was read
 * @param bytes length of the log. If the disk lacks the room, the log grows as it is written
 */
export function reserveLog(database: string, bytes: number): void {
  const fd = openSync(logOf(database), 'r+');
  try {
    const zeros = Buffer.alloc(CHUNK_BYTES);
    for (let end = fstatSync(fd).size; end < bytes; )
      end += writeSync(fd, zeros, 0, Math.min(CHUNK_BYTES, bytes - end), end);
    fsyncSync(fd);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(fd);
  }
}
