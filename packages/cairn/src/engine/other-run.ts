/** Errors of other runs that a dispatch notifies, cancels or passes an event to. They must not end the dispatch's own run. */
import { isOfDocument, StoreRefused } from '../ports/store-errors.ts';

/** The store permanently refuses a write to another run. */
export class OtherRunRefused extends Error {
  override readonly name = 'OtherRunRefused';
  readonly refusal: StoreRefused;

  constructor(refusal: StoreRefused) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
  }
}

/** Replaces a refusal by OtherRunRefused, because it would otherwise count as a refusal of the caller's own run. */
export function asOfOtherRun(error: unknown): unknown {
  if (!(error instanceof StoreRefused) || error.reason !== 'request') return error;
  return new OtherRunRefused(error);
}

/** @throws what the work throws, `asOfOtherRun` */
export async function onOtherRun<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asOfOtherRun(error);
  }
}

/** True if another run cannot be read or written. No run waits for such a run. */
export function isOfOtherRun(error: unknown): error is Error {
  return isOfDocument(error) || error instanceof OtherRunRefused;
}
