/** Times that a caller of Firestore names. */
import { isTime, toMicros, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { invalid } from '../model/status.ts';

/** Microseconds since 1970. @throws INVALID_ARGUMENT unless it is a whole number of microseconds */
export function toAlignedMicros(time: WireTimestamp): number {
  if (!isTime(time)) throw invalid('Timestamp exceeds the years 1 to 9999.');
  if ((time.nanos ?? 0) % 1000 !== 0) throw invalid('timestamp cannot have more than microseconds precision');
  return toMicros(time);
}
