/**
 * Databases and transactions, shared by all calls: reads, queries and commits with the requested consistency. Locks detect conflicts of
 * commits (`lock-table.ts`), for optimistic transactions their reads (`optimistic-reads.ts`). Owns the life of a transaction; knows no
 * wire messages.
 */
import type { Candidate } from '../model/query/match.ts';
import { parseDocument } from '../model/resource-name.ts';
import { CONTENTION, Code, invalid, StatusError } from '../model/status.ts';
import type { Write } from '../model/write.ts';
import type { DocumentStorage } from '../storage/document-storage.ts';
import type { CommitPlan, Database, DatabaseOptions, DocumentAddress } from './database.ts';
import { Databases } from './databases.ts';
import { Listeners } from './listen/listeners.ts';
import { QueryTurns } from './query-turns.ts';
import type { LockedRange } from './transactions/lock-need.ts';
import { LockTable } from './transactions/lock-table.ts';
import { OptimisticReads } from './transactions/optimistic-reads.ts';
import type { Snapshot } from './transactions/snapshot.ts';
import { type Transaction, type TransactionMode, Transactions } from './transactions/transactions.ts';

/** Consistency of a read; with neither member, the newest commit without locks. */
export interface ReadConsistency {
  /** Owner of the locks. Absent for reads without locks. */
  readonly transaction: Transaction | undefined;
  /** The moment to read. */
  readonly snapshot: Snapshot | undefined;
}

interface StoreOptions extends DatabaseOptions {
  readonly lockTimeoutMs?: number | undefined;
}

export class TransactionalStore {
  readonly storage: DocumentStorage;
  readonly databases: Databases;
  readonly transactions: Transactions;
  readonly locks: LockTable;
  readonly #optimistic = new OptimisticReads();
  readonly listeners = new Listeners();
  readonly turns = new QueryTurns();

  constructor(options: StoreOptions) {
    const { storage, clock } = options;
    this.storage = storage;
    this.databases = new Databases(options);
    this.transactions = new Transactions(clock);
    this.locks = new LockTable({ clock, timeoutMs: options.lockTimeoutMs });
  }

  begin(database: string, mode: TransactionMode): Transaction {
    const snapshot = mode.kind === 'readOnly' ? this.databases.get(database).open(mode.at) : undefined;
    return this.transactions.begin(database, mode, snapshot);
  }

  /** The moment that the transaction reads; undefined: the newest commit. */
  momentOf(transaction: Transaction): Snapshot | undefined {
    if (transaction.isOptimistic) transaction.snapshot ??= this.databases.get(transaction.database).open();
    return transaction.snapshot;
  }

  /** Runs `read` under the transaction's locks on the named documents. */
  read<T>(transaction: Transaction | undefined, names: readonly string[], read: () => T): T | Promise<T> {
    if (transaction?.isOptimistic) this.#optimistic.sawDocuments(transaction, names);
    if (!transaction || transaction.snapshot) return read();
    return this.locks.run(transaction, { kind: 'read', names }, () => {
      const result = read();
      this.locks.holdDocuments(transaction, names);
      return result;
    });
  }

  /**
   * Runs a query under the transaction's locks.
   *
   * @param whole the largest range that the query may read
   * @param run returns the range that the query has read, which stays locked
   */
  query<T>(
    transaction: Transaction | undefined,
    whole: LockedRange,
    run: () => { result: T; range: LockedRange; found: readonly Candidate[] },
  ): T | Promise<T> {
    if (transaction?.isOptimistic) {
      const { result, range, found } = run();
      this.#optimistic.sawDocuments(transaction, namesOf(found));
      this.#optimistic.sawRange(transaction, range);
      return result;
    }
    if (!transaction || transaction.snapshot) return run().result;
    return this.locks.run(transaction, { kind: 'query', range: whole }, () => {
      const { result, range, found } = run();
      this.locks.holdDocuments(transaction, namesOf(found));
      this.locks.holdRange(transaction, range);
      return result;
    });
  }

  /** Applies all writes atomically. Always ends the transaction, unless a lock aborted it before. */
  async commit(
    { name }: Pick<Database, 'name'>,
    writes: readonly Write[],
    transaction: Transaction | undefined,
  ): Promise<CommitPlan> {
    if (transaction?.mode === 'readOnly' && writes.length > 0) {
      throw invalid('Cannot modify entities in a read-only transaction.');
    }
    const owner = transaction ?? {
      age: this.transactions.nextAge(),
      wounds: false,
      isDecided: false,
      aborted: () => {},
    };
    const names = writes.filter((w) => w.kind !== 'verify').map((w) => w.name);
    // Looked up when the commit is applied, because all documents may be replaced while it waits.
    const intents = () => intentsOf(this.databases.get(name), writes);
    try {
      const plan = await this.locks.run(owner, { kind: 'write', names, intents }, () => {
        const current = this.databases.get(name);
        if (writes.length > 0) this.#checkUnchanged(current, transaction);
        const decided = current.plan(writes);
        current.apply(decided);
        if (transaction) transaction.isDecided = true;
        return decided;
      });
      await this.storage.durable();
      return plan;
    } catch (error) {
      // The storage rolled back a group of commits, some of which listeners may have seen.
      if (error instanceof StatusError && error.code === Code.UNAVAILABLE) this.startAnew();
      throw error;
    } finally {
      if (transaction && transaction.abortReason === undefined) this.end(transaction);
    }
  }

  /** @throws ABORTED if a document that an optimistic transaction has read was changed since */
  #checkUnchanged(database: Database, transaction: Transaction | undefined): void {
    if (!transaction?.isOptimistic || !transaction.snapshot) return;
    const current = (name: string) => database.get(parseAddress(name));
    if (this.#optimistic.isStale(transaction, transaction.snapshot, current)) {
      throw new StatusError(Code.ABORTED, CONTENTION);
    }
  }

  rollback(id: Uint8Array, database: string): void {
    const transaction = this.transactions.find(id);
    if (transaction && transaction.database === database) this.end(transaction);
  }

  end(transaction: Transaction): void {
    this.transactions.end(transaction);
    this.locks.release(transaction);
    this.#optimistic.forget(transaction);
    if (transaction.snapshot) this.databases.get(transaction.database).close(transaction.snapshot);
  }

  /** Deletes all documents of these databases. */
  clear(names: readonly string[]): void {
    for (const name of names) {
      this.storage.clear(this.databases.get(name).number);
      this.startAnew(name);
    }
  }

  /**
   * Call it after documents were replaced other than by commits. What open transactions have read is gone, and no history has the
   * change, so they are aborted. Clients retry those that may write.
   *
   * @param name of the database; absent: all
   */
  startAnew(name?: string): void {
    this.databases.forget(name);
    const undecided = this.transactions.openIn(name).filter(({ isDecided }) => !isDecided);
    for (const transaction of undecided) {
      transaction.aborted(REPLACED);
      this.#optimistic.forget(transaction);
    }
    this.locks.releaseAll(new Set(undecided), REPLACED);
    this.listeners.cut();
  }

  /** Ends transactions and locks past their limits. Call it regularly. */
  sweep(): void {
    this.locks.sweep();
    for (const transaction of this.transactions.overdue()) this.end(transaction);
  }
}

const REPLACED = 'The documents of this server were replaced. Try the transaction again.';

function parseAddress(name: string): DocumentAddress {
  return { name, segments: parseDocument(name).segments };
}

function namesOf(found: readonly Candidate[]): string[] {
  return found.map(({ name }) => name);
}

/** A commit that will be refused writes nothing, so it waits for no query. */
function intentsOf(database: Database, writes: readonly Write[]) {
  try {
    return database.plan(writes).intents;
  } catch {
    return [];
  }
}
