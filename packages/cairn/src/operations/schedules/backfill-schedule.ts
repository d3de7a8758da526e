/** Starts the missing runs of past slots: from a pause or a downtime, or before the schedule existed. */
import { type CairnError, invalidInput } from '../../core/errors.ts';
import { mapConcurrently } from '../../core/map-concurrently.ts';
import type { Schedule } from '../../core/schedule/schedule.ts';
import { slotsBetween } from '../../core/schedule/slots.ts';
import { ownSchedule } from './change-schedule.ts';
import type { ScheduleDeps, ScheduleRef } from './deps.ts';
import { startSlot } from './start-slot.ts';

/** Most slots of one backfill: the number of runs that can be started while a caller waits. */
const MAX_BACKFILL = 1_000;
const CONCURRENT_STARTS = 10;

interface BackfillRequest extends ScheduleRef {
  /** First and last moment of the range, both included, epoch ms. */
  readonly from: number;
  readonly until: number;
  /** True: only counts the slots. */
  readonly isDryRun: boolean;
}

export interface Backfilled {
  readonly slots: number;
  readonly started: number;
  /** Slots that already had a run. */
  readonly existing: number;
}

/**
 * Validates a range before anything is read or written.
 *
 * @throws CairnError INVALID_INPUT
 */
export function assertPast(
  { clock }: Pick<ScheduleDeps, 'clock'>,
  range: Pick<BackfillRequest, 'from' | 'until'>,
): void {
  if (range.from > range.until) throw invalidEnd('must not be before from');
  if (range.until > clock.now()) throw invalidEnd('is in the future');
}

/**
 * A repetition starts only the slots that are still missing. Does not change the schedule; a paused schedule is backfilled too.
 *
 * @throws CairnError INVALID_INPUT (the range is not past, has more than {@link MAX_BACKFILL} slots, or the workflow refuses the
 * input), NOT_FOUND, UNAVAILABLE (send the same again)
 */
export async function backfillSchedule(deps: ScheduleDeps, request: BackfillRequest): Promise<Backfilled> {
  const { schedule } = await ownSchedule(deps, request);
  const { from, until, isDryRun } = request;
  assertPast(deps, request);
  const slots = slotsBetween(schedule, from - 1, until, MAX_BACKFILL + 1);
  const last = slots[MAX_BACKFILL - 1];
  if (slots.length > MAX_BACKFILL && last !== undefined) {
    const [most, to] = [MAX_BACKFILL.toLocaleString('en'), new Date(last).toISOString()];
    throw invalidEnd(`is too late: the range has more than ${most} slots; up to ${to} it has ${most}`);
  }
  const kinds = isDryRun ? [] : await startAll(deps, schedule, slots);
  const count = (kind: string) => kinds.filter((one) => one === kind).length;
  return { slots: slots.length, started: count('started'), existing: count('existing') };
}

/** Stops at the first failure. Started runs remain, and a repetition continues. */
async function startAll(
  deps: ScheduleDeps,
  schedule: Schedule,
  slots: readonly number[],
): Promise<readonly string[]> {
  const started = await mapConcurrently(slots, CONCURRENT_STARTS, (slot) => startSlot(deps, schedule, slot));
  return started.map(({ kind }) => kind);
}

function invalidEnd(problem: string): CairnError {
  return invalidInput('to', `to ${problem}`);
}
