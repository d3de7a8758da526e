/**
 * Gives a write-ahead log its full length before the first commits. A sync of bytes that are overwritten writes them alone; one of a file
 * that grew writes the file system's own journal too, and takes about twice as long.
 */
import { closeSync, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { logOf } from './witness.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * SQLite ignores the zeros: it reads frames until one lacks the checksum and salt of its log. It overwrites them from the end of its own
 * frames on. An orderly end removes the log.
 *
 * @param database file of a database in WAL mode that is open and was read
 * @param bytes of the log between two checkpoints. Where the disk has no room for them the log grows as it is written
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
