/** `google.protobuf.Timestamp` and `Duration` as protobufjs decodes them, in milliseconds and microseconds. */

/** An int64: a number below 2^53, or a Long. */
export type Int64 = number | { toNumber(): number };

export interface WireTimestamp {
  readonly seconds?: Int64 | null;
  readonly nanos?: number | null;
}

export const integer = (value: Int64 | null | undefined) =>
  typeof value === 'number' ? value : (value?.toNumber() ?? 0);

export const toMs = (value: WireTimestamp) => integer(value.seconds) * 1000 + (value.nanos ?? 0) / 1e6;

/** Microseconds; a fraction of one is cut. */
export const toMicros = (value: WireTimestamp) =>
  integer(value.seconds) * 1e6 + Math.floor((value.nanos ?? 0) / 1000);

/** Milliseconds, rounded to microseconds as in production. */
export const fromMs = (ms: number) => fromMicros(Math.round(ms * 1000));

export function fromMicros(micros: number): { seconds: number; nanos: number } {
  const seconds = Math.floor(micros / 1e6);
  return { seconds, nanos: (micros - seconds * 1e6) * 1000 };
}
