/**
 * Pauses and unpauses a workflow: starts and decisions are accepted meanwhile, and runs are dispatched after unpausing.
 * Applies to all tenants.
 */
import { CairnError } from '../../core/errors.ts';
import type { PauseMark } from '../../core/schedule/schedule.ts';
import { changeConfig, type RuntimeDeps, readConfig } from './change-config.ts';
import { wakePaused } from './wake-paused.ts';

interface PauseRequest {
  readonly type: string;
  readonly actor: string;
  /** Tenant of the caller; a pause applies to all tenants. */
  readonly tenantId: string;
  readonly reason?: string | undefined;
}

/**
 * The pause in effect: the first one.
 *
 * @throws CairnError NOT_FOUND (no such workflow is deployed), UNAVAILABLE (send the same again)
 */
export async function pauseWorkflow(
  deps: RuntimeDeps,
  { type, actor, reason }: PauseRequest,
): Promise<PauseMark> {
  if (!deps.registry.newest(type)) throw noSuchWorkflow();
  const mark: PauseMark = { since: deps.clock.now(), by: actor, reason };
  const { paused } = await changeConfig(deps, (current) =>
    current.paused.has(type) ? undefined : { ...current, paused: new Map([...current.paused, [type, mark]]) },
  );
  deps.log.warn('workflow_paused', { type, by: actor, reason });
  return paused.get(type) ?? mark;
}

/**
 * Returns the number of enqueued runs of the caller's tenant. A repetition enqueues runs that are still paused, which
 * completes an interrupted call. A type that is no longer deployed can be unpaused too.
 *
 * @throws CairnError NOT_FOUND (neither deployed nor paused), UNAVAILABLE (send the same again)
 */
export async function unpauseWorkflow(
  deps: RuntimeDeps,
  { type, actor, tenantId, reason }: PauseRequest,
): Promise<{ readonly woken: number }> {
  let wasPaused = false;
  const after = await changeConfig(deps, (current) => {
    if (current.paused.has(type)) {
      wasPaused = true;
      return { ...current, paused: new Map([...current.paused].filter(([one]) => one !== type)) };
    }
    // The workflow is not paused any more: an earlier attempt of this request may have succeeded, and its response been lost.
    if (!wasPaused && !deps.registry.newest(type)) throw noSuchWorkflow();
    return undefined;
  });
  deps.log.info('workflow_unpaused', { type, by: actor, reason });
  let woken = 0;
  for (const paused of [type, ...deps.registry.partTypes(type)])
    woken += await wakePaused(deps, after, { tenantId, type: paused });
  return { woken };
}

/**
 * Runs before anything is recorded.
 *
 * @throws CairnError NOT_FOUND (neither deployed nor paused), UNAVAILABLE
 */
export async function assertKnownWorkflow(deps: RuntimeDeps, type: string): Promise<void> {
  if (deps.registry.newest(type) || (await readConfig(deps)).paused.has(type)) return;
  throw noSuchWorkflow();
}

function noSuchWorkflow(): CairnError {
  return new CairnError('NOT_FOUND', 'no workflow of this type is deployed', {
    field: 'type',
    help: 'GET /v1/workflows lists the types.',
  });
}
