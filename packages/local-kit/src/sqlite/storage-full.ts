/** The disk is full or not writable. Nothing was written, and a retry may succeed once there is room. */
import { resultCode } from './result-codes.ts';

/** Result codes of SQLite: read-only, I/O error, disk full, and a file that cannot be opened. */
const DISK_CODES: ReadonlySet<number> = new Set([8, 10, 13, 14]);
/** Errors of the operating system: disk full, over quota, I/O error, read-only. */
const DISK_ERRORS: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';

  constructor(cause: unknown) {
    super(
      `The disk that holds the data of the local cloud is full or not writable. Nothing was stored. Free some space and try again. (${(cause as Error).message})`,
      { cause },
    );
  }
}

/** Returns a {@link StorageFullError} if the disk caused the error; otherwise the error itself. */
export function storageError(error: unknown): unknown {
  const { code } = error as { code?: string };
  return DISK_CODES.has(resultCode(error) ?? 0) || DISK_ERRORS.has(code)
    ? new StorageFullError(error)
    : error;
}
