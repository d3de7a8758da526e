/**
 * The open transactions: ids, ages and ends. A transaction with an unknown id has ended. One that lost a deadlock is kept as aborted until
 * its client was informed. Owns no locks.
 */
import { randomBytes } from 'node:crypto';
import { Code, invalid, StatusError } from '../../model/status.ts';
import type { LockOwner } from './lock-need.ts';
import type { Snapshot } from './snapshot.ts';

/** Production ends a transaction that was idle this long (firebase.google.com/docs/firestore/quotas). */
const IDLE_LIMIT_MS = 60_000;
const TOTAL_LIMIT_MS = 270_000;
/** Most ages that are kept for retries that name their previous attempt; further ones get a new age. */
const REMEMBERED_AGES = 10_000;
/** Most open transactions, in case a client leaks them; production has no limit. */
const MAX_OPEN = 20_000;
const ID_BYTES = 16;

export type TransactionMode =
  | {
      readonly kind: 'readWrite';
      readonly retryOf: Uint8Array | undefined;
      /** True: takes no locks, and commits only if its reads are still valid. */
      readonly isOptimistic?: boolean;
    }
  /** `at`: the moment to read, microseconds since 1970; absent: the newest commit. */
  | { readonly kind: 'readOnly'; readonly at?: number | undefined };

interface TransactionOptions {
  readonly database: string;
  readonly mode: TransactionMode;
  readonly age: number;
  readonly now: number;
  readonly snapshot: Snapshot | undefined;
}

export class Transaction implements LockOwner {
  readonly id: Buffer;
  readonly database: string;
  readonly mode: TransactionMode['kind'];
  readonly isOptimistic: boolean;
  readonly age: number;
  readonly wounds: boolean;
  isDecided = false;
  readonly startedAt: number;
  /** Moment of the reads: of a read-only transaction its start, of an optimistic one its first read. */
  snapshot: Snapshot | undefined;
  touchedAt: number;
  /** Reason of the abort; undefined if it is not aborted. */
  abortReason: string | undefined;

  constructor(options: TransactionOptions) {
    this.id = randomBytes(ID_BYTES);
    this.database = options.database;
    const { mode } = options;
    this.mode = mode.kind;
    this.isOptimistic = mode.kind === 'readWrite' && mode.isOptimistic === true;
    this.age = options.age;
    this.wounds = mode.kind === 'readWrite' && !this.isOptimistic;
    this.snapshot = options.snapshot;
    this.startedAt = options.now;
    this.touchedAt = options.now;
  }

  aborted(reason: string): void {
    this.abortReason = reason;
  }

  /** @throws ABORTED when it was aborted */
  check(): void {
    if (this.abortReason !== undefined) throw new StatusError(Code.ABORTED, this.abortReason);
  }
}

export class Transactions {
  readonly #clock: () => number;
  readonly #open = new Map<string, Transaction>();
  readonly #ages = new Map<string, number>();
  #lastAge = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  begin(database: string, mode: TransactionMode, snapshot?: Snapshot): Transaction {
    if (this.#open.size >= MAX_OPEN) {
      throw new StatusError(Code.RESOURCE_EXHAUSTED, `More than ${MAX_OPEN} transactions are open.`);
    }
    const earlier = mode.kind === 'readWrite' && mode.retryOf ? hex(mode.retryOf) : '';
    if (this.#open.get(earlier)?.mode === 'readOnly') throw invalid('Cannot retry a read-only transaction.');
    const retried = this.#ages.get(earlier);
    const age = retried ?? this.nextAge();
    const transaction = new Transaction({ database, mode, age, now: this.#clock(), snapshot });
    const key = hex(transaction.id);
    this.#open.set(key, transaction);
    this.#ages.set(key, age);
    if (this.#ages.size > REMEMBERED_AGES) this.#ages.delete(this.#ages.keys().next().value as string);
    return transaction;
  }

  /** Age of a write without a transaction, younger than all others. */
  nextAge(): number {
    return ++this.#lastAge;
  }

  /** @throws ABORTED when it lost a lock, INVALID_ARGUMENT when it has ended or never was. */
  get(id: Uint8Array, database: string): Transaction {
    const transaction = this.#open.get(hex(id));
    if (!transaction || transaction.database !== database) {
      throw invalid('The referenced transaction has expired or is no longer valid.');
    }
    if (transaction.snapshot?.overflown) {
      throw new StatusError(Code.ABORTED, 'The transaction is too far behind. Try it again.');
    }
    transaction.check();
    transaction.touchedAt = this.#clock();
    return transaction;
  }

  /** Undefined if there is no such transaction, because rolling back an ended transaction is not an error. */
  find(id: Uint8Array): Transaction | undefined {
    return this.#open.get(hex(id));
  }

  end(transaction: Transaction): void {
    this.#open.delete(hex(transaction.id));
  }

  /** The open transactions, the aborted ones included: of one database, by default of all. */
  openIn(name?: string): Transaction[] {
    return [...this.#open.values()].filter(({ database }) => name === undefined || database === name);
  }

  /** Transactions past the idle or total limit. */
  overdue(): Transaction[] {
    const now = this.#clock();
    return [...this.#open.values()].filter(
      (t) => now - t.touchedAt >= IDLE_LIMIT_MS || now - t.startedAt >= TOTAL_LIMIT_MS,
    );
  }
}

/** False for an invalid id, which no transaction ever had. */
export function isTransactionId(id: Uint8Array): boolean {
  return id.length === ID_BYTES;
}

function hex(id: Uint8Array): string {
  return Buffer.from(id).toString('hex');
}
