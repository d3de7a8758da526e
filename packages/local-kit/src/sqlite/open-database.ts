/** Opens the SQLite database of a server: checks the file, applies settings and schema, and attaches a witness of its commits. */
import { DatabaseSync } from 'node:sqlite';
import { reserveLog } from './reserve-log.ts';
import { checkDatabase, markFormat, synchronous, Witness } from './witness.ts';

/** 32 MB of log between checkpoints. Checkpoints are rare, because each blocks a call until the disk has written. */
export const CHECKPOINT_PAGES = 8_000;

export interface OpenParams {
  /** Undefined for a database in memory. */
  readonly file: string | undefined;
  /** True: opens the readable data of a damaged file. */
  readonly acceptDamage: boolean;
  /** True: each commit is on disk before it is acknowledged. */
  readonly sync: boolean;
  /** Time to wait for another owner of the file, ms. */
  readonly busyMs: number;
  /** Settings of this server, as `PRAGMA` statements. */
  readonly settings?: string;
  readonly schema: string;
  /** Initial length of the log with `sync`. */
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
