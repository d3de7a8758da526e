/** Puts the names of files on the disk: a file that was made or renamed may be gone after a power cut, although its bytes were synced. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** @throws the error of the system, such as `EIO` */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
