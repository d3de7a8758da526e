/** Times on the wire (`google.protobuf.Timestamp`) and in the server (microseconds since 1970). */
import { invalid } from '../model/status.ts';

/** A 64-bit number as protobufjs decodes it. */
export type WireInteger = number | { toNumber(): number };

export interface WireTimestamp {
  readonly seconds?: WireInteger | null;
  readonly nanos?: number | null;
}

export function toMicros(time: WireTimestamp): number {
  return toNumber(time.seconds) * 1e6 + Math.floor((time.nanos ?? 0) / 1000);
}

/** A moment that a caller names. @throws INVALID_ARGUMENT unless it is a whole number of microseconds */
export function toAlignedMicros(time: WireTimestamp, name: string): number {
  if ((time.nanos ?? 0) % 1000 !== 0) throw invalid(`${name} must have a precision of microseconds.`);
  return toMicros(time);
}

export function toTimestamp(micros: number): { seconds: number; nanos: number } {
  const seconds = Math.floor(micros / 1e6);
  return { seconds, nanos: (micros - seconds * 1e6) * 1000 };
}

export function toNumber(value: WireInteger | null | undefined): number {
  if (value === null || value === undefined) return 0;
  return typeof value === 'number' ? value : value.toNumber();
}
