/** Converts `google.protobuf.Timestamp` and `Duration` of protobufjs to milliseconds and microseconds. */

/** An int64: a number below 2^53, or a Long. */
export type Int64 = number | { toNumber(): number };

export interface WireTimestamp {
  readonly seconds?: Int64 | null;
  readonly nanos?: number | null;
}

/** The range of `google.protobuf.Duration`: 10,000 years in either direction. */
const MAX_DURATION_S = 315_576_000_000;
/** The range of `google.protobuf.Timestamp`: the years 1 to 9999. */
const FIRST_S = -62_135_596_800;
const LAST_S = 253_402_300_799;
const MAX_NANOS = 999_999_999;

export const integer = (value: Int64 | null | undefined) =>
  typeof value === 'number' ? value : (value?.toNumber() ?? 0);

export const toMs = (value: WireTimestamp) => integer(value.seconds) * 1000 + (value.nanos ?? 0) / 1e6;

/** Microseconds, truncated. */
export const toMicros = (value: WireTimestamp) =>
  integer(value.seconds) * 1e6 + Math.floor((value.nanos ?? 0) / 1000);

/** Milliseconds, rounded to microseconds as in production. */
export const fromMs = (ms: number) => fromMicros(Math.round(ms * 1000));

export function fromMicros(micros: number): { seconds: number; nanos: number } {
  const seconds = Math.floor(micros / 1e6);
  return { seconds, nanos: (micros - seconds * 1e6) * 1000 };
}

/** True if protobuf allows the value. */
export function isDuration(value: WireTimestamp): boolean {
  const seconds = integer(value.seconds);
  const nanos = value.nanos ?? 0;
  const sameSign = seconds === 0 || nanos === 0 || seconds < 0 === nanos < 0;
  return Math.abs(seconds) <= MAX_DURATION_S && Math.abs(nanos) <= MAX_NANOS && sameSign;
}

/** True if protobuf allows the value. */
export function isTime(value: WireTimestamp): boolean {
  const seconds = integer(value.seconds);
  const nanos = value.nanos ?? 0;
  return seconds >= FIRST_S && seconds <= LAST_S && nanos >= 0 && nanos <= MAX_NANOS;
}
