/** The kill switch: stops all dispatches of all workflows and tenants, and allows them again. */
import { changeConfig, type RuntimeDeps } from './change-config.ts';
import { wakePaused } from './wake-paused.ts';

interface KillSwitchRequest {
  readonly on: boolean;
  readonly actor: string;
  readonly tenantId: string;
}

/**
 * Returns the number of runs of the caller's tenant that were enqueued: those of workflows that are not paused, unless the
 * switch is on now, or the installation is paused after a restore.
 *
 * @throws CairnError UNAVAILABLE (send the same again)
 */
export async function setKillSwitch(
  deps: RuntimeDeps,
  { on, actor, tenantId }: KillSwitchRequest,
): Promise<{ readonly woken: number }> {
  const after = await changeConfig(deps, (current) =>
    current.killSwitch === on ? undefined : { ...current, killSwitch: on },
  );
  deps.log.warn('kill_switch_set', { on, by: actor });
  return { woken: await wakePaused(deps, after, { tenantId }) };
}
