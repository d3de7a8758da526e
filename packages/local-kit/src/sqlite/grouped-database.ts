/**
 * A SQLite database that one server owns. Owns its settings, its prepared statements, transactions, and writes that may
 * come a moment later, in groups: losing those repeats a delivery, which at-least-once allows. What must be durable
 * before it is answered is written at once.
 *
 * Must not: know what the tables are for.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';

export type SqliteStorage = { readonly kind: 'memory' } | { readonly kind: 'sqlite'; readonly file: string };

export interface GroupedDatabaseParams<Sql extends Readonly<Record<string, string>>, Later> {
  readonly storage: SqliteStorage;
  readonly schema: string;
  readonly sql: Sql;
  /** Carries out one write of a group, inside the group's transaction. */
  readonly apply: (write: Later) => void;
}

/** 32 MB of log between checkpoints: each one waits for the disk, in the middle of a call. */
const CHECKPOINT_PAGES = 8_000;

export class GroupedDatabase<Sql extends Readonly<Record<string, string>>, Later> {
  readonly statements: Readonly<Record<keyof Sql, StatementSync>>;
  readonly #db: DatabaseSync;
  readonly #apply: (write: Later) => void;
  #later: Later[] = [];
  #flushScheduled = false;

  constructor({ storage, schema, sql, apply }: GroupedDatabaseParams<Sql, Later>) {
    this.#apply = apply;
    this.#db = new DatabaseSync(storage.kind === 'memory' ? ':memory:' : storage.file);
    this.#db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;
       PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};`,
    );
    this.#db.exec(schema);
    this.statements = Object.fromEntries(
      Object.entries(sql).map(([name, text]) => [name, this.#db.prepare(text)]),
    ) as Record<keyof Sql, StatementSync>;
  }

  /** All of it or nothing, on disk when this returns. */
  transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Written with others, before anything else happens that waits for input. */
  later(write: Later): void {
    this.#later.push(write);
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      if (this.#db.isOpen) this.flush();
    });
  }

  /** Writes now what was to be written later: whoever reads must see it. */
  flush(): void {
    if (this.#later.length === 0) return;
    const writes = this.#later;
    this.#later = [];
    this.transaction(() => {
      for (const write of writes) this.#apply(write);
    });
  }

  close(): void {
    this.flush();
    this.#db.close();
  }
}
