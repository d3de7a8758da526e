/**
 * The tick of all schedules, each minute. Ticks may run concurrently, and may be interrupted: the next tick continues. Under the
 * kill switch and for paused workflows schedules fire too: their runs are created and wait.
 */
import { workThrough } from '../../core/map-concurrently.ts';
import { messageOf } from '../../core/thrown.ts';
import { deployedSchedules, keepDeclared } from '../../operations/schedules/declared.ts';
import type { ScheduleDeps } from '../../operations/schedules/deps.ts';
import { type Fired, fireSchedule } from '../../operations/schedules/fire-schedule.ts';
import type { DueSchedule } from '../../ports/schedule-store.ts';

/**
 * Time in which a tick begins to fire schedules, ms: less than the minute between ticks, so that they rarely overlap.
 * The function has another minute for the schedules in progress.
 */
export const TICK_MS = 45_000;
/** Due schedules read at once. */
const TICK_PAGE = 200;
/** Schedules fired concurrently. Each makes about six calls of 20 ms, so a tick fires about 5,000. */
const TICK_CONCURRENCY = 16;

export interface TickDeps extends ScheduleDeps {
  /** Owns the runs of schedules that workflows declare. */
  readonly declaredTenant: string;
}

export interface TickReport extends Fired {
  readonly due: number;
  /** Schedules that could not be handled. Each is logged and left to the next tick. */
  readonly failed: number;
  /** True if the time was over before all were fired. The next tick continues, most overdue first. */
  readonly isCut: boolean;
}

/** @throws the error of the query for due schedules */
export async function tick(deps: TickDeps, pageSize = TICK_PAGE): Promise<TickReport> {
  for (const declared of deployedSchedules(deps.registry)) {
    await guarded(deps, declared.id, () => keepDeclared(deps, deps.declaredTenant, declared));
  }
  const startedAt = deps.clock.now();
  const isTimeUp = () => deps.clock.now() - startedAt >= TICK_MS;
  const report = { due: 0, fired: 0, skipped: 0, refused: 0, failed: 0, isCut: false };
  for (let last: DueSchedule | undefined; ; ) {
    const page = await deps.schedules.due(startedAt, pageSize, last);
    report.due += page.length;
    const waiting = page.map(({ id }) => id);
    const next = () => (isTimeUp() ? undefined : waiting.shift());
    await workThrough(next, TICK_CONCURRENCY, async (scheduleId) => {
      const done = await guarded(deps, scheduleId, () => fireSchedule(deps, scheduleId));
      report.fired += done?.fired ?? 0;
      report.skipped += done?.skipped ?? 0;
      report.refused += done?.refused ?? 0;
      report.failed += done ? 0 : 1;
    });
    const isLast = page.length < pageSize;
    if (isLast && waiting.length === 0) return report;
    if (isTimeUp()) return { ...report, isCut: true };
    last = page.at(-1);
  }
}

/** A schedule that cannot be handled, for example because its document is damaged, must not block others. */
async function guarded<T>(
  { log }: TickDeps,
  scheduleId: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    log.error('schedule_failed', { scheduleId, error: messageOf(error) });
    return undefined;
  }
}
