/** Reads the consistency selector that all reading calls share. */
import type { WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { invalid } from '../../model/status.ts';
import { readMicros } from '../../wire/time.ts';
import type { ReadConsistency, TransactionalStore } from '../transactional-store.ts';
import { isTransactionId, type TransactionMode } from '../transactions/transactions.ts';

/** Value of `TransactionOptions.ConcurrencyMode`; 0, the default, is pessimistic, as in new databases. */
const OPTIMISTIC = 1;
const PESSIMISTIC = 2;

export interface WireTransactionOptions {
  readonly mode?: 'readOnly' | 'readWrite';
  readonly readOnly?: { readonly readTime?: WireTimestamp | null } | null;
  readonly readWrite?: {
    readonly retryTransaction?: Uint8Array | null;
    readonly concurrencyMode?: number | null;
  } | null;
}

export interface WireConsistency {
  readonly consistencySelector?: 'transaction' | 'newTransaction' | 'readTime';
  readonly transaction?: Uint8Array | null;
  readonly newTransaction?: WireTransactionOptions | null;
  readonly readTime?: WireTimestamp | null;
}

export interface SelectedConsistency extends ReadConsistency {
  /** Id of the transaction that this call began; the response contains it. */
  readonly begun: Uint8Array | undefined;
}

function select(store: TransactionalStore, database: string, wire: WireConsistency): SelectedConsistency {
  switch (wire.consistencySelector) {
    case 'transaction': {
      const transaction = store.transactions.get(wire.transaction as Uint8Array, database);
      return { transaction, snapshot: store.momentOf(transaction), begun: undefined };
    }
    case 'newTransaction': {
      const transaction = store.begin(database, transactionMode(wire.newTransaction ?? {}, 'readOnly'));
      return { transaction, snapshot: store.momentOf(transaction), begun: transaction.id };
    }
    case 'readTime': {
      const snapshot = store.databases.get(database).at(readMicros(wire.readTime ?? {}));
      return { transaction: undefined, snapshot, begun: undefined };
    }
    default:
      return { transaction: undefined, snapshot: undefined, begun: undefined };
  }
}

/** Reads with the requested consistency. Ends a transaction that a failing call began, because no caller has its id. */
export async function reading<T>(
  store: TransactionalStore,
  { database, wire }: { database: string; wire: WireConsistency },
  read: (selected: SelectedConsistency) => T | Promise<T>,
): Promise<T> {
  const selected = select(store, database, wire);
  try {
    const result = await read(selected);
    await store.storage.durable();
    return result;
  } catch (error) {
    if (selected.begun && selected.transaction) store.end(selected.transaction);
    throw error;
  }
}

/** @param usual default mode: read-only if a read begins the transaction, read-write with BeginTransaction */
export function transactionMode(
  options: WireTransactionOptions,
  usual: NonNullable<WireTransactionOptions['mode']>,
): TransactionMode {
  if ((options.mode ?? usual) === 'readOnly') {
    const { readTime } = options.readOnly ?? {};
    return { kind: 'readOnly', at: readTime ? readMicros(readTime) : undefined };
  }
  const retried = options.readWrite?.retryTransaction;
  if (retried?.length && !isTransactionId(retried)) throw invalid('Invalid transaction.');
  const concurrency = options.readWrite?.concurrencyMode ?? 0;
  if (concurrency < 0 || concurrency > PESSIMISTIC) {
    throw invalid(`Unknown concurrency mode ${concurrency} of a transaction.`);
  }
  return {
    kind: 'readWrite',
    retryOf: retried?.length ? retried : undefined,
    isOptimistic: concurrency === OPTIMISTIC,
  };
}
