/** Opens the SQLite database of a server: checks its file, then gives it its settings, its schema and a witness of its commits. */
import { DatabaseSync } from 'node:sqlite';
import { reserveLog } from './reserve-log.ts';
import { checkDatabase, markFormat, synchronous, Witness } from './witness.ts';

/** 32 MB of log between checkpoints: each one waits for the disk, in the middle of a call. */
export const CHECKPOINT_PAGES = 8_000;

export interface OpenParams {
  /** Undefined: in memory. */
  readonly file: string | undefined;
  /** Starts with the readable data of a damaged file. */
  readonly acceptDamage: boolean;
  /** Each commit is on the disk before it is acknowledged. */
  readonly sync: boolean;
  /** Time to wait for another owner of the file, ms. */
  readonly busyMs: number;
  /** Settings of this server, as `PRAGMA` statements. */
  readonly settings?: string;
  readonly schema: string;
  /** Length that the log has from the beginning, with `sync`. */
  readonly reservedLogBytes: number;
}

export interface OpenDatabase {
  readonly db: DatabaseSync;
  readonly witness: Witness;
}

/** @throws DamagedDataError for a file whose acknowledged commits cannot all be read, NewerDataError for one of a later version */
export function openDatabase(params: OpenParams): OpenDatabase {
  const { file, acceptDamage, sync, busyMs, settings = '', schema, reservedLogBytes } = params;
  const format = file === undefined ? 0 : checkDatabase({ file, acceptDamage });
  const db = new DatabaseSync(file ?? ':memory:', { timeout: busyMs });
  let witness: Witness | undefined;
  try {
    db.exec(`${settings} PRAGMA journal_mode = WAL; ${synchronous(sync)}
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};`);
    if (file !== undefined) markFormat(db, { file, format });
    db.exec(schema);
    witness = new Witness(db, file, sync);
    if (sync && file !== undefined) reserveLog(file, reservedLogBytes);
    return { db, witness };
  } catch (error) {
    db.close();
    witness?.abandon();
    throw error;
  }
}
