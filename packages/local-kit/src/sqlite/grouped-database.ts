/**
 * An SQLite database owned by one server. Owns its settings, prepared statements, transactions and deferred group writes. Losing a
 * deferred write repeats a delivery, which at-least-once allows. Data that must be durable before a response is written immediately.
 *
 * Must not: know the meaning of the tables.
 */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementResultingChanges } from 'node:sqlite';
import { openDatabase } from './open-database.ts';
import { StorageFullError, storageError } from './storage-full.ts';
import type { Witness } from './witness.ts';

export type StorageChoice = { readonly kind: 'memory' } | ({ readonly kind: 'sqlite' } & SqliteFile);

interface SqliteFile {
  readonly file: string;
  /** True: opens the readable data of damaged files. */
  readonly acceptDamage?: boolean;
  /** True: each commit is on disk before it is acknowledged, so that it survives a power cut. */
  readonly sync?: boolean;
}

export interface GroupedDatabaseParams<Sql extends Readonly<Record<string, string>>, Later> {
  readonly storage: StorageChoice;
  readonly schema: string;
  readonly sql: Sql;
  /** Executes one write of a group, inside the group's transaction. */
  readonly apply: (write: Later) => void;
}

type SqlRow = Record<string, SQLOutputValue>;

/** A prepared statement. Outside of a transaction, `run` is its own transaction. */
export interface Statement {
  run(...values: SQLInputValue[]): StatementResultingChanges;
  get(...values: SQLInputValue[]): SqlRow | undefined;
  all(...values: SQLInputValue[]): SqlRow[];
}

/** Size of a few hundred commits. The logs of most servers stay smaller. */
const RESERVED_LOG_BYTES = 4 * 1024 * 1024;
/** Time a server waits for its predecessor to release the file, ms. */
const BUSY_MS = 5_000;
/** Longest time that a deferred write waits for another group if each group waits for the disk, ms. */
const HOLD_BACK_MS = 100;
/** Time between retries of deferred writes after the disk was full, ms. */
const NO_ROOM_PAUSE_MS = 1_000;

export class GroupedDatabase<Sql extends Readonly<Record<string, string>>, Later> {
  readonly statements: Readonly<Record<keyof Sql, Statement>>;
  readonly #db: DatabaseSync;
  readonly #witness: Witness;
  readonly #apply: (write: Later) => void;
  #later: Later[] = [];
  #flushScheduled = false;
  #heldBackScheduled = false;
  readonly #isSynced: boolean;

  /** @throws DamagedDataError for a file whose acknowledged commits cannot all be read, NewerDataError for one of a later version */
  constructor({ storage, schema, sql, apply }: GroupedDatabaseParams<Sql, Later>) {
    this.#apply = apply;
    const {
      file,
      acceptDamage = false,
      sync = false,
    }: Partial<SqliteFile> = storage.kind === 'sqlite' ? storage : {};
    this.#isSynced = sync;
    const opened = openDatabase({
      file,
      acceptDamage,
      sync,
      busyMs: BUSY_MS,
      schema,
      reservedLogBytes: RESERVED_LOG_BYTES,
    });
    this.#db = opened.db;
    this.#witness = opened.witness;
    try {
      this.statements = Object.fromEntries(
        Object.entries(sql).map(([name, text]) => [name, this.#prepare(text)]),
      ) as Record<keyof Sql, Statement>;
    } catch (error) {
      this.#db.close();
      this.#witness.abandon();
      throw error;
    }
  }

  /**
   * Runs `work` in a transaction, which is durable when this returns.
   *
   * @throws StorageFullError if the disk is full
   */
  transaction<Result>(work: () => Result): Result {
    try {
      return this.#witness.transaction(work);
    } catch (error) {
      throw storageError(error);
    }
  }

  /** Defers a write to the end of the event-loop step, to be grouped with others. On a full disk it is written once there is room. */
  later(write: Later): void {
    this.#later.push(write);
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => this.#flushScheduledWrites());
  }

  /** Like {@link later}, but if groups wait for the disk, the write joins the next group or is written after {@link HOLD_BACK_MS}. */
  laterIfCheap(write: Later): void {
    if (!this.#isSynced) {
      this.later(write);
      return;
    }
    this.#later.push(write);
    if (this.#heldBackScheduled) return;
    this.#heldBackScheduled = true;
    setTimeout(() => {
      this.#heldBackScheduled = false;
      this.#flushScheduledWrites();
    }, HOLD_BACK_MS).unref();
  }

  /** Writes the deferred writes now. @throws StorageFullError on a full disk; they are kept and retried */
  flush(): void {
    if (this.#later.length === 0) return;
    const writes = this.#later;
    this.#later = [];
    try {
      this.transaction(() => {
        for (const write of writes) this.#apply(write);
      });
    } catch (error) {
      this.#later = [...writes, ...this.#later];
      throw error;
    }
  }

  /** Applies deferred writes before a read, unless the disk is full, which at-least-once allows. */
  catchUp(): void {
    try {
      this.flush();
    } catch (error) {
      if (!(error instanceof StorageFullError)) throw error;
    }
  }

  /** Pending writes are dropped if the disk is full. */
  close(): void {
    this.catchUp();
    this.#db.close();
    this.#witness.close();
  }

  #flushScheduledWrites(): void {
    this.#flushScheduled = false;
    if (!this.#db.isOpen) return;
    this.catchUp();
    if (this.#later.length === 0 || this.#flushScheduled) return;
    this.#flushScheduled = true;
    setTimeout(() => this.#flushScheduledWrites(), NO_ROOM_PAUSE_MS).unref();
  }

  #prepare(text: string): Statement {
    const statement = this.#db.prepare(text);
    return {
      run: (...values) =>
        this.#db.isTransaction ? statement.run(...values) : this.transaction(() => statement.run(...values)),
      get: (...values) => statement.get(...values),
      all: (...values) => statement.all(...values),
    };
  }
}
