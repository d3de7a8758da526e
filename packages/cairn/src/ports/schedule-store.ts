/**
 * Schedules of callers and of workflows. They are few and small: a collection of
 * some hundreds. Every method throws `OutcomeUnknown` if it is unknown whether the call was applied.
 */
import type { Schedule } from '../core/schedule/schedule.ts';
import type { Page, PageRequest, Version } from './run-store.ts';

export interface StoredSchedule {
  readonly schedule: Schedule;
  readonly version: Version;
}

export interface DueSchedule {
  readonly id: string;
  /** Epoch ms. */
  readonly nextAt: number;
}

export type ScheduleWritten =
  | { readonly kind: 'written' }
  /** Another write won, or the schedule was deleted: read and decide again. */
  | { readonly kind: 'stale' };

export interface ScheduleStore {
  read(id: string): Promise<StoredSchedule | undefined>;
  /** Creates a schedule if none exists. */
  create(schedule: Schedule): Promise<{ readonly kind: 'created' } | { readonly kind: 'exists' }>;
  /** Replaces the version last seen as a whole. */
  write(schedule: Schedule, seen: Version): Promise<ScheduleWritten>;
  remove(id: string, seen: Version): Promise<ScheduleWritten>;
  /** Active schedules whose `nextAt` is at or before `now`, the most overdue first, then by id; `after` continues a page. */
  due(now: number, limit: number, after?: DueSchedule): Promise<readonly DueSchedule[]>;
  /** Schedules of one tenant, newest first. */
  list(tenantId: string, page: PageRequest): Promise<Page<Schedule>>;
}
