/** Reads the consistency selector that all reading calls share. */
import { unimplemented } from '../model/status.ts';
import type { WireTimestamp } from '../wire/time.ts';
import type { Session } from './session.ts';
import type { Transaction, TransactionMode } from './transactions.ts';

export interface WireTransactionOptions {
  readonly mode?: 'readOnly' | 'readWrite';
  readonly readOnly?: { readonly readTime?: WireTimestamp | null } | null;
  readonly readWrite?: { readonly retryTransaction?: Uint8Array | null } | null;
}

export interface WireConsistency {
  readonly consistencySelector?: 'transaction' | 'newTransaction' | 'readTime';
  readonly transaction?: Uint8Array | null;
  readonly newTransaction?: WireTransactionOptions | null;
}

export interface Selected {
  readonly transaction: Transaction | undefined;
  /** True when this call began the transaction and must report its id. */
  readonly begun: boolean;
}

export function select(session: Session, database: string, wire: WireConsistency): Selected {
  switch (wire.consistencySelector) {
    case 'transaction':
      return {
        transaction: session.transactions.get(wire.transaction as Uint8Array, database),
        begun: false,
      };
    case 'newTransaction': {
      const mode = transactionMode(wire.newTransaction ?? {});
      return { transaction: session.begin(database, mode), begun: true };
    }
    case 'readTime':
      throw unimplemented('Reading at a past time (read_time) is not implemented.');
    default:
      return { transaction: undefined, begun: false };
  }
}

export function transactionMode(options: WireTransactionOptions): TransactionMode {
  if (options.mode === 'readOnly') {
    if (options.readOnly?.readTime)
      throw unimplemented('Reading at a past time (read_time) is not implemented.');
    return { kind: 'readOnly' };
  }
  const retried = options.readWrite?.retryTransaction;
  return { kind: 'readWrite', retryOf: retried?.length ? retried : undefined };
}
