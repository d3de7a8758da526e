/** Converts durations and times of requests to milliseconds. Throws INVALID_ARGUMENT for those that protobuf does not allow. Pure. */
import { isDuration, isTime, toMs, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { invalid } from '../model/status.ts';

export function durationFrom(field: string, value: WireTimestamp): number {
  if (!isDuration(value)) throw invalid(`${field} is not a valid duration.`);
  return toMs(value);
}

export function timeFrom(field: string, value: WireTimestamp): number {
  if (!isTime(value)) throw invalid(`${field} is not a valid time.`);
  return toMs(value);
}
