/** All calls to Firestore go through here, so that equal failures become equal errors. */
import { callFailureOf, GRPC_STATUS, grpcStatusOf } from '../ports/grpc-outcome.ts';
import { OutcomeUnknown, StoreRefused } from '../ports/store-errors.ts';
import { RequestBudget } from './request-budget.ts';

/**
 * @throws OutcomeUnknown if the call may have been applied; StoreRefused if the store will not apply it; CairnError UNAVAILABLE
 * when the time of the whole request is up; other errors of the call, such as a failed precondition (see {@link isTaken} and
 * {@link isStale})
 */
export async function call<T>(what: string, send: () => Promise<T>): Promise<T> {
  const attempt = async () => {
    try {
      return await send();
    } catch (error) {
      throw storeErrorOf(what, error);
    }
  };
  return RequestBudget.current?.spend(what, attempt) ?? attempt();
}

function storeErrorOf(what: string, error: unknown): unknown {
  const failure = hasTransactionExpired(error) ? 'unknown' : callFailureOf(error);
  if (failure === 'unknown') return new OutcomeUnknown(what, error);
  if (failure === undefined || failure === 'precondition') return error;
  return new StoreRefused(what, error, { code: grpcStatusOf(error) as number, reason: failure });
}

/**
 * True for Firestore's answer after a pause of a minute, or a restart of the local one. The same reads succeed in a new
 * transaction.
 */
function hasTransactionExpired(error: unknown): boolean {
  const isInvalid = grpcStatusOf(error) === GRPC_STATUS.INVALID_ARGUMENT;
  return isInvalid && error instanceof Error && error.message.includes('transaction has expired');
}

/** Returns StoreRefused for a failure that no precondition of ours explains; any other error as it is. */
export function unexplained(what: string, error: unknown): unknown {
  if (callFailureOf(error) !== 'precondition') return error;
  return new StoreRefused(what, error, { code: grpcStatusOf(error) as number, reason: 'request' });
}

/** Returns true if a create met an existing document. */
export function isTaken(error: unknown): boolean {
  return grpcStatusOf(error) === GRPC_STATUS.ALREADY_EXISTS;
}

/** Returns true if a write with a version precondition met another version, or no document. */
export function isStale(error: unknown): boolean {
  const status = grpcStatusOf(error);
  return status === GRPC_STATUS.FAILED_PRECONDITION || status === GRPC_STATUS.NOT_FOUND;
}
