/** The disk is full. Nothing was written, and a retry may succeed once there is room. */

/** SQLite's primary result codes. */
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;

export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';

  constructor(cause: unknown) {
    super(
      `The disk that holds the data of the local cloud is full or not writable. Nothing was stored. Free some space and try again. (${(cause as Error).message})`,
      { cause },
    );
  }
}

/** Turns a thrown value into a {@link StorageFullError} where the disk is at fault. */
export function storageError(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode ?? 0;
  // The extended codes are in the higher bits: of failed writes, syncs and truncations for lack of room.
  const primary = code & 0xff;
  return primary === SQLITE_FULL || primary === SQLITE_IOERR ? new StorageFullError(error) : error;
}
