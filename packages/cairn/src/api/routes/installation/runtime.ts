/**
 * `GET|PUT /v1/runtime`: the kill switch and pauses, with the actors who set them. Both apply to all tenants, and actors may
 * belong to any tenant, so reading them requires the role `installation` too.
 */
import { readConfig } from '../../../operations/runtime/change-config.ts';
import { setKillSwitch } from '../../../operations/runtime/kill-switch.ts';
import type { Caller } from '../../auth.ts';
import type { ChangeHandler, ReadHandler } from '../../route.ts';
import { pauseView } from '../../views/workflow.ts';

export const readRuntime: ReadHandler<'GET /v1/runtime'> = async ({ deps }) => {
  const { killSwitch, paused } = await readConfig(deps);
  const marks = [...paused]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, mark]) => [type, pauseView(mark)]);
  return { killSwitch, paused: Object.fromEntries(marks) };
};

/** `woken`: runs of the caller's tenant that were enqueued when the switch was turned off. */
export const setRuntime: ChangeHandler<'PUT /v1/runtime'> = {
  async work({ deps, caller, body: { killSwitch } }) {
    const { woken } = await setKillSwitch(deps, { on: killSwitch, ...actingOf(caller) });
    return { status: 200, body: { killSwitch, woken } };
  },
};

export function actingOf({ principal, tenantId }: Caller) {
  return { actor: principal, tenantId };
}
