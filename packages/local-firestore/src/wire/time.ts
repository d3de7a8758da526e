/** Times that a caller of Firestore names. */
import { toMicros, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { invalid } from '../model/status.ts';

/** Microseconds since 1970. @throws INVALID_ARGUMENT unless it is a whole number of microseconds */
export function toAlignedMicros(time: WireTimestamp, name: string): number {
  if ((time.nanos ?? 0) % 1000 !== 0) throw invalid(`${name} must have a precision of microseconds.`);
  return toMicros(time);
}
