/** Parses times of requests. */
import { isTime, toMicros, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { invalid } from '../model/status.ts';

/** Microseconds since 1970. @throws INVALID_ARGUMENT before that, and unless it is a whole number of microseconds */
export function toAlignedMicros(time: WireTimestamp): number {
  if (!isTime(time)) throw invalid('Timestamp exceeds the years 1 to 9999.');
  if ((time.nanos ?? 0) % 1000 !== 0) throw invalid('timestamp cannot have more than microseconds precision');
  const micros = toMicros(time);
  if (micros < 0) throw beforeEpoch();
  return micros;
}

/** Like {@link toAlignedMicros}, for a read time, which must be after the beginning of 1970. */
export function readMicros(time: WireTimestamp): number {
  const micros = toAlignedMicros(time);
  if (micros === 0) throw beforeEpoch();
  return micros;
}

const beforeEpoch = () => invalid('Only timestamps past epoch are supported.');
