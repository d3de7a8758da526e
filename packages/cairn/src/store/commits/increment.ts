/** Amounts to add to stored numbers: the client library's own value, but with an amount that the raw batch can read. */
import { FieldValue } from '@google-cloud/firestore';

const amounts = new WeakMap<object, number>();

export function increment(by: number): FieldValue {
  const value = FieldValue.increment(by);
  amounts.set(value, by);
  return value;
}

/** Undefined for every value that {@link increment} did not make. */
export function incrementOf(member: unknown): number | undefined {
  return typeof member === 'object' && member !== null ? amounts.get(member) : undefined;
}
