/** Every call to Firestore goes through here, so that each failure says the same everywhere. */
import { GRPC_STATUS, grpcStatusOf, leavesOutcomeUnknown } from '../ports/grpc-outcome.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';

/** @throws OutcomeUnknown if it cannot be known whether the call was applied; otherwise what the call threw */
export async function call<T>(what: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    throw leavesOutcomeUnknown(error) ? new OutcomeUnknown(what, error) : error;
  }
}

/** Whether a create met a document that was there already. */
export function isTaken(error: unknown): boolean {
  return grpcStatusOf(error) === GRPC_STATUS.ALREADY_EXISTS;
}

/** Whether a write with the precondition of a version met another version, or nothing. */
export function isStale(error: unknown): boolean {
  const status = grpcStatusOf(error);
  return status === GRPC_STATUS.FAILED_PRECONDITION || status === GRPC_STATUS.NOT_FOUND;
}
