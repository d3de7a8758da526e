/** Dependencies of the operations on schedules. Types only. */
import type { ScheduleStore } from '../../ports/schedule-store.ts';
import type { StartDeps } from '../start/request.ts';

export interface ScheduleDeps extends StartDeps {
  readonly schedules: ScheduleStore;
  /** Written on every run. */
  readonly environment: string;
}

/** The schedule, and the caller. */
export interface ScheduleRef {
  readonly id: string;
  /** Tenant of the caller: another tenant's schedule is answered exactly as one that does not exist. */
  readonly tenantId: string;
}
