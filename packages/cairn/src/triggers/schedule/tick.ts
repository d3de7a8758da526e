/**
 * The minutely tick of all schedules. Safe to run any number of times at once, and to die anywhere: what it leaves the
 * next one does. Under the kill switch and for paused workflows it fires as ever: runs are started and wait.
 */
import { messageOf } from '../../core/thrown.ts';
import { declaredSchedules, keepDeclared } from '../../operations/schedules/declared.ts';
import type { ScheduleDeps } from '../../operations/schedules/deps.ts';
import { fireSchedule } from '../../operations/schedules/fire-schedule.ts';

/** Schedules fired in one tick, the most overdue first; the next tick goes on with the rest. */
export const TICK_LIMIT = 200;
/** Schedules fired in parallel. */
const TICK_CONCURRENCY = 8;

export interface TickDeps extends ScheduleDeps {
  /** Owns the runs of schedules that workflows declare. */
  readonly declaredTenant: string;
}

export interface TickReport {
  readonly due: number;
  readonly fired: number;
  readonly skipped: number;
  readonly refused: number;
  /** Schedules that could not be handled; each is logged, and left for the next tick. */
  readonly failed: number;
}

/** @throws what looking for due schedules threw */
export async function tick(deps: TickDeps): Promise<TickReport> {
  for (const declared of declaredSchedules(deps.registry)) {
    await guarded(deps, declared.id, () => keepDeclared(deps, deps.declaredTenant, declared));
  }
  const due = await deps.schedules.due(deps.clock.now(), TICK_LIMIT);
  const report = { due: due.length, fired: 0, skipped: 0, refused: 0, failed: 0 };
  const waiting = [...due];
  const workers = Array.from({ length: TICK_CONCURRENCY }, async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const scheduleId = id;
      const done = await guarded(deps, scheduleId, () => fireSchedule(deps, scheduleId));
      report.fired += done?.fired ?? 0;
      report.skipped += done?.skipped ?? 0;
      report.refused += done?.refused ?? 0;
      report.failed += done ? 0 : 1;
    }
  });
  await Promise.all(workers);
  return report;
}

/** A schedule that cannot be handled, be it undecodable, must not keep the others from being fired. */
async function guarded<T>(
  { log }: TickDeps,
  scheduleId: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    log.error('schedule_failed', {
      scheduleId,
      error: messageOf(error),
    });
    return undefined;
  }
}
