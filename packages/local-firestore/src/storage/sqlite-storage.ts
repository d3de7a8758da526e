/**
 * Documents and index entries in SQLite, on disk (WAL) or in memory. Commits of one step of the event loop share one SQLite
 * transaction, which their responses wait for. A committed transaction survives a crash of the process, and with `sync` a power
 * cut.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { EarlySync } from '@cairn/local-kit/sqlite/early-sync';
import { CHECKPOINT_PAGES, type OpenDatabase, openDatabase } from '@cairn/local-kit/sqlite/open-database';
import { BUSY, resultCode } from '@cairn/local-kit/sqlite/result-codes';
import { StorageFullError, storageError } from '@cairn/local-kit/sqlite/storage-full';
import type { Witness } from '@cairn/local-kit/sqlite/witness';
import { prefixEnd } from '../model/byte-writer.ts';
import { databasePrefix } from '../model/document-key.ts';
import { Code, StatusError } from '../model/status.ts';
import type {
  DocumentEntry,
  DocumentStorage,
  IndexedDocument,
  KeyRange,
  RangeScan,
  StorageMutation,
  StoredDocument,
} from './document-storage.ts';
import { assertExportFile, columnsOf } from './export-file.ts';
import { LARGE_BODY_BYTES, LargeBodies } from './large-bodies.ts';

/**
 * Page cache of SQLite. It is small, because SQLite scans the whole cache at a commit that has split a page; with 64 MiB that took a third
 * of the commit. The operating system caches the other pages.
 */
const CACHE_KIB = 8_192;
/** Time a server waits for its predecessor to release the file. */
const HANDOVER_MS = 2_000;
/** Size of the log between two checkpoints, in pages of 4 KiB. */
const RESERVED_LOG_BYTES = CHECKPOINT_PAGES * 4_096;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, body BLOB NOT NULL,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, document INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS databases (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, commit_time INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`;
const TABLES = ['documents', 'entries', 'databases', 'settings'];
const DOCUMENT = 'd.id, d.key, d.body, d.create_time AS createTime, d.update_time AS updateTime';
/** Columns for a scan, which skips large bodies. SQLite knows the length of a body without reading it. */
const SCANNED = DOCUMENT.replace(
  'd.body',
  `CASE WHEN length(d.body) < ${LARGE_BODY_BYTES} THEN d.body END AS body`,
);
// Constants, because statements are looked up by their text, and a new string would be hashed and compared each time.
const GET_DOCUMENT = `SELECT ${DOCUMENT} FROM documents d WHERE d.key = ?`;
const scanDocuments = (order: 'ASC' | 'DESC') =>
  `SELECT ${SCANNED} FROM documents d WHERE d.key >= ? AND d.key < ? ORDER BY d.key ${order} LIMIT ?`;
const SCAN_DOCUMENTS = { forward: scanDocuments('ASC'), reverse: scanDocuments('DESC') };
const scanEntries = (order: 'ASC' | 'DESC') =>
  `SELECT e.key AS entry, ${SCANNED} FROM entries e JOIN documents d ON d.id = e.document
      WHERE e.key >= ? AND e.key < ? ORDER BY e.key ${order} LIMIT ?`;
const SCAN_ENTRIES = { forward: scanEntries('ASC'), reverse: scanEntries('DESC') };
const INSERT_ENTRY = 'INSERT INTO entries VALUES (?, ?)';
/** Setting with the fingerprint of the index configuration of the entries. */
const INDEXED_BY = 'indexed-by';
/** Setting with the groups of a database that have a name list, as JSON. */
const listedIn = (database: number) => `listed-groups ${database}`;
const GET_SETTING = 'SELECT value FROM settings WHERE name = ?';
const PUT_SETTING = 'INSERT OR REPLACE INTO settings VALUES (?, ?)';
const NO_BOUND = Buffer.from([0xff, 0xff, 0xff, 0xff]);

interface SqliteRow extends Omit<StoredDocument, 'body'> {
  /** Null for a large body. */
  readonly body: Uint8Array | null;
}

interface EntryRow extends SqliteRow {
  readonly entry: Uint8Array;
}

interface Batch {
  /** Rows changed so far. */
  rows: number;
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface StorageOptions {
  /** Starts with the readable data of a damaged file. */
  readonly acceptDamage?: boolean | undefined;
  /** True: a group of commits is acknowledged only once it is on disk. */
  readonly sync?: boolean | undefined;
}

/**
 * @param file undefined: in memory
 * @throws if another process has the file, if a later version wrote it, or if it is damaged and `acceptDamage` is not set
 */
export function openSqliteStorage(file: string | undefined, options: StorageOptions = {}): DocumentStorage {
  const earlySync = file === undefined || options.sync ? undefined : new EarlySync(file);
  return new SqliteStorage(openDocuments(file, options), earlySync);
}

export function openDocuments(
  file: string | undefined,
  { acceptDamage = false, sync = false }: StorageOptions = {},
): OpenDatabase {
  const settings = `PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${CACHE_KIB};`;
  try {
    return openDatabase({
      file,
      acceptDamage,
      sync,
      busyMs: HANDOVER_MS,
      settings,
      schema: SCHEMA,
      reservedLogBytes: RESERVED_LOG_BYTES,
    });
  } catch (error) {
    throw inUse(error, file);
  }
}

function inUse(error: unknown, file: string | undefined): unknown {
  if (resultCode(error) !== BUSY) return error;
  return new Error(`${file} is in use by another process: one server owns it at a time.`, { cause: error });
}

/** Error for the client, as in production: the service cannot write now, and the client may retry. */
function unavailable(error: unknown): unknown {
  const known = storageError(error);
  return known instanceof StorageFullError ? new StatusError(Code.UNAVAILABLE, known.message) : known;
}

/** Number of changed rows: the document, its key and the index entries. */
const rowsOf = ({ entries: { added, removed } }: StorageMutation) => 2 + added.length + removed.length;

export class SqliteStorage implements DocumentStorage {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #witness: Witness;
  readonly #large = new LargeBodies();
  /** Undefined in memory, or if each commit is synced anyway. */
  readonly #earlySync: EarlySync | undefined;
  #batch: Batch | undefined;
  /**
   * Group that was rolled back in this step of the event loop. Until the step ends everything is refused, because its commits and reads
   * of them have not asked yet whether they are durable.
   */
  #rolledBack: { readonly done: Promise<void>; readonly error: Error } | undefined;

  constructor({ db, witness }: OpenDatabase, earlySync?: EarlySync) {
    this.#db = db;
    this.#witness = witness;
    this.#earlySync = earlySync;
  }

  databaseNumber(name: string): number {
    const known = this.#sql('SELECT id FROM databases WHERE name = ?').get(name) as
      | { id: number }
      | undefined;
    if (known) return known.id;
    const insert = this.#sql('INSERT INTO databases (name, commit_time) VALUES (?, 0)');
    this.#commit();
    return this.#transaction(() => Number(insert.run(name).lastInsertRowid));
  }

  databaseNames(): readonly string[] {
    return (this.#sql('SELECT name FROM databases ORDER BY id').all() as { name: string }[]).map(
      (r) => r.name,
    );
  }

  lastCommitTime(database: number): number {
    const row = this.#sql('SELECT commit_time AS at FROM databases WHERE id = ?').get(database);
    return (row as { at: number } | undefined)?.at ?? 0;
  }

  get(key: Uint8Array): StoredDocument | undefined {
    return this.#sql(GET_DOCUMENT).get(key) as StoredDocument | undefined;
  }

  scanDocuments({ from, to, reverse, limit }: RangeScan): StoredDocument[] {
    const sql = reverse ? SCAN_DOCUMENTS.reverse : SCAN_DOCUMENTS.forward;
    const rows = this.#sql(sql).all(from, to ?? NO_BOUND, limit) as unknown as SqliteRow[];
    return rows.map((row) => this.#whole(row));
  }

  scanEntries({ from, to, reverse, limit }: RangeScan): IndexedDocument[] {
    const sql = reverse ? SCAN_ENTRIES.reverse : SCAN_ENTRIES.forward;
    const rows = this.#sql(sql).all(from, to ?? NO_BOUND, limit) as unknown as EntryRow[];
    return rows.map((row) => ({ entry: row.entry, document: this.#whole(row) }));
  }

  #whole(row: SqliteRow): StoredDocument {
    const { id, updateTime } = row;
    const body = row.body ?? this.#large.of(id, updateTime, () => this.#body(id));
    return { ...row, body };
  }

  #body(id: number): Uint8Array {
    const row = this.#sql('SELECT body FROM documents WHERE id = ?').get(id);
    return (row as { body: Uint8Array }).body;
  }

  listedGroups(database: number): readonly string[] {
    const row = this.#sql(GET_SETTING).get(listedIn(database)) as { value: string } | undefined;
    return row === undefined ? [] : (JSON.parse(row.value) as string[]);
  }

  listGroup(database: number, collectionId: string, entries: Iterable<DocumentEntry>): void {
    const groups = [...this.listedGroups(database), collectionId];
    this.#commit();
    this.#transaction(() => {
      for (const { key, document } of entries) this.#sql(INSERT_ENTRY).run(key, document);
      this.#sql(PUT_SETTING).run(listedIn(database), JSON.stringify(groups));
    });
  }

  countEntries({ from, to }: KeyRange, most = -1): number {
    const sql = 'SELECT count(*) AS n FROM (SELECT 1 FROM entries WHERE key >= ? AND key < ? LIMIT ?)';
    return (this.#sql(sql).get(from, to ?? NO_BOUND, most) as { n: number }).n;
  }

  apply(database: number, commitTime: number, mutations: readonly StorageMutation[]): void {
    try {
      const batch = this.#begin();
      for (const mutation of mutations) {
        this.#mutate(mutation);
        batch.rows += rowsOf(mutation);
      }
      this.#sql('UPDATE databases SET commit_time = ? WHERE id = ?').run(commitTime, database);
    } catch (error) {
      // A statement fails only if the disk is full; then the batch may be incomplete.
      this.#fail(error);
      throw unavailable(error);
    }
  }

  durable(): Promise<void> | undefined {
    return (this.#rolledBack ?? this.#batch)?.done;
  }

  clear(database: number): void {
    this.#commit();
    this.#large.clear();
    const prefix = databasePrefix(database);
    const to = prefixEnd(prefix) ?? NO_BOUND;
    this.#transaction(() => {
      this.#sql('DELETE FROM documents WHERE key >= ? AND key < ?').run(prefix, to);
      this.#sql('DELETE FROM entries WHERE key >= ? AND key < ?').run(prefix, to);
    });
  }

  indexBy(fingerprint: string, entriesOf: (document: StoredDocument) => readonly Uint8Array[]): void {
    const row = this.#sql(GET_SETTING).get(INDEXED_BY);
    if ((row as { value: string } | undefined)?.value === fingerprint) return;
    this.#commit();
    this.#transaction(() => {
      this.#db.exec('DELETE FROM entries;');
      const documents = this.#sql(`SELECT ${DOCUMENT} FROM documents d`).iterate();
      for (const document of documents as IterableIterator<unknown> as IterableIterator<StoredDocument>) {
        for (const entry of entriesOf(document)) this.#sql(INSERT_ENTRY).run(entry, document.id);
      }
      this.#sql(PUT_SETTING).run(INDEXED_BY, fingerprint);
    });
  }

  exportTo(file: string): void {
    this.#commit();
    this.#db.prepare('VACUUM INTO ?').run(file);
  }

  importFrom(file: string): void {
    assertExportFile(file, new Map(TABLES.map((table) => [table, columnsOf(this.#db, table)])));
    this.#commit();
    this.#large.clear();
    this.#db.prepare('ATTACH ? AS copy').run(file);
    try {
      this.#transaction(() => {
        for (const table of TABLES) {
          this.#db.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM copy.${table};`);
        }
      });
    } finally {
      this.#db.exec('DETACH copy');
    }
  }

  close(): void {
    this.#commit();
    this.#earlySync?.close();
    this.#statements.clear();
    this.#db.close();
    this.#witness.close();
  }

  /** Runs a transaction that is not shared with commits. */
  #transaction<Result>(work: () => Result): Result {
    try {
      return this.#witness.transaction(work);
    } catch (error) {
      throw unavailable(error);
    }
  }

  #mutate(mutation: StorageMutation): void {
    const { added, removed } = mutation.entries;
    for (const key of removed) this.#sql('DELETE FROM entries WHERE key = ?').run(key);
    if (mutation.kind === 'remove') {
      this.#sql('DELETE FROM documents WHERE id = ?').run(mutation.id);
      return;
    }
    const { key, body, createTime, updateTime } = mutation;
    let id = mutation.id;
    if (id === undefined) {
      const insert = 'INSERT INTO documents (key, body, create_time, update_time) VALUES (?, ?, ?, ?)';
      id = Number(this.#sql(insert).run(key, body, createTime, updateTime).lastInsertRowid);
    } else {
      const update = 'UPDATE documents SET body = ?, create_time = ?, update_time = ? WHERE id = ?';
      this.#sql(update).run(body, createTime, updateTime, id);
    }
    for (const entry of added) this.#sql(INSERT_ENTRY).run(entry, id);
  }

  #begin(): Batch {
    if (this.#rolledBack) throw this.#rolledBack.error;
    if (this.#batch) return this.#batch;
    this.#db.exec('BEGIN IMMEDIATE');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // Callers that await the batch get the failure; otherwise it must not crash the process.
    const batch = { rows: 0, done: promise, resolve, reject };
    this.#batch = batch;
    setImmediate(() => {
      this.#commit();
      this.#rolledBack = undefined;
    });
    return batch;
  }

  #commit(): void {
    const batch = this.#batch;
    if (!batch) return;
    try {
      this.#witness.count();
      this.#db.exec('COMMIT');
      this.#witness.record();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#batch = undefined;
    batch.resolve();
    this.#earlySync?.wrote(batch.rows);
  }

  #fail(error: unknown): void {
    const batch = this.#batch;
    this.#batch = undefined;
    this.#large.clear();
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    if (!batch) return;
    const refusal = unavailable(error) as Error;
    this.#rolledBack = { done: batch.done, error: refusal };
    batch.reject(refusal);
  }

  #sql(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#db.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}
