/** Syncs a folder: without it a new or renamed file may be gone after a power cut, although its bytes were synced. */
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
