/** Amounts to be added to numbers that are stored: the client library's own value, whose amount the raw batch can ask for. */
import { FieldValue } from '@google-cloud/firestore';

const amounts = new WeakMap<object, number>();

export function increment(by: number): FieldValue {
  const value = FieldValue.increment(by);
  amounts.set(value, by);
  return value;
}

/** Undefined for every value that {@link increment} has not made. */
export function incrementOf(member: unknown): number | undefined {
  return typeof member === 'object' && member !== null ? amounts.get(member) : undefined;
}
