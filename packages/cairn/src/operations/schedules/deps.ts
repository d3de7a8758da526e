/** Dependencies of the operations on schedules. Types only. */
import type { ScheduleStore } from '../../ports/schedule-store.ts';
import type { StartDeps } from '../start/request.ts';

export interface ScheduleDeps extends StartDeps {
  readonly schedules: ScheduleStore;
  /** Recorded in every run. */
  readonly environment: string;
}

/** The schedule, and the caller. */
export interface ScheduleRef {
  readonly id: string;
  /** Tenant of the caller. A schedule of another tenant gets exactly the response of one that does not exist. */
  readonly tenantId: string;
}
