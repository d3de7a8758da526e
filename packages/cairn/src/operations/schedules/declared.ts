/**
 * Schedules that workflows declare, and their documents. Each has a document, so that it can be paused and shown. The newest version
 * of a workflow declares them.
 */
import { canonicalJson } from '../../core/encoding/json.ts';
import { armed, newSchedule, retimed } from '../../core/schedule/due.ts';
import type { DeclaredSchedule, Schedule } from '../../core/schedule/schedule.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { ScheduleDeps } from './deps.ts';

export function deployedSchedules(registry: WorkflowRegistry): readonly DeclaredSchedule[] {
  return registry.types().flatMap((type) => registry.newest(type)?.schedules ?? []);
}

export function isDeclared(registry: WorkflowRegistry, id: string): boolean {
  return deployedSchedules(registry).some((declared) => declared.id === id);
}

/**
 * Creates the document of a declared schedule, or updates it to the declaration. A pause is kept. If the schedule, its cron expression
 * or its time zone is new, earlier slots are not caught up, except as described at {@link retimed}. A concurrent change is not an
 * error, because the next tick tries again.
 */
export async function keepDeclared(
  deps: ScheduleDeps,
  tenantId: string,
  declared: DeclaredSchedule,
): Promise<void> {
  const { schedules, log } = deps;
  const now = deps.clock.now();
  const found = await sendUntilKnown(deps, () => schedules.read(declared.id));
  if (!found) {
    const fresh = newSchedule({ ...declared, tenantId, origin: 'declared' }, now);
    const { kind } = await sendUntilKnown(deps, () => schedules.create(fresh));
    if (kind === 'created') log.info('schedule_declared', { scheduleId: declared.id, type: declared.type });
    return;
  }
  const current = found.schedule;
  const isRedeclared = current.state === 'withdrawn';
  if (!isRedeclared && isSame(current, declared) && current.tenantId === tenantId) return;
  const next = { ...current, ...declared, tenantId };
  const timed = isRedeclared ? armed(next, now) : retimed(next, current, now);
  await sendUntilKnown(deps, () => schedules.write({ ...timed, updatedAt: now }, found.version));
}

function isSame(current: Schedule, declared: DeclaredSchedule): boolean {
  const { type, cron, timezone, catchUp, input } = current;
  return (
    type === declared.type &&
    cron === declared.cron &&
    timezone === declared.timezone &&
    catchUp === declared.catchUp &&
    canonicalJson(input) === canonicalJson(declared.input)
  );
}
