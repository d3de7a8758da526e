/** Syncs a folder. Otherwise a power cut may undo the creation or renaming of a file, although its bytes were synced. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** @throws the error of the operating system, such as `EIO` */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
