/** Converts durations and times of requests to milliseconds, or throws INVALID_ARGUMENT for those protobuf does not allow. Pure. */
import { integer, toMs, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { invalid } from '../model/status.ts';

/** The range of `google.protobuf.Duration`: 10,000 years in either direction. */
const MAX_DURATION_S = 315_576_000_000;
/** The range of `google.protobuf.Timestamp`: the years 1 to 9999. */
const FIRST_S = -62_135_596_800;
const LAST_S = 253_402_300_799;
const MAX_NANOS = 999_999_999;

export function durationFrom(field: string, value: WireTimestamp): number {
  const seconds = integer(value.seconds);
  const nanos = value.nanos ?? 0;
  const sameSign = seconds === 0 || nanos === 0 || seconds < 0 === nanos < 0;
  if (Math.abs(seconds) > MAX_DURATION_S || Math.abs(nanos) > MAX_NANOS || !sameSign) {
    throw invalid(`${field} is not a valid duration.`);
  }
  return toMs(value);
}

export function timeFrom(field: string, value: WireTimestamp): number {
  const seconds = integer(value.seconds);
  const nanos = value.nanos ?? 0;
  if (seconds < FIRST_S || seconds > LAST_S || nanos < 0 || nanos > MAX_NANOS) {
    throw invalid(`${field} is not a valid time.`);
  }
  return toMs(value);
}
