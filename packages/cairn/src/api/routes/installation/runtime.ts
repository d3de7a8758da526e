/**
 * `GET|PUT /v1/runtime`: the kill switch, and what is paused by whom. Both hold for every tenant of the installation,
 * and whoever set them may belong to any tenant, so reading them takes the role `installation` too.
 */
import { z } from 'zod';
import { readConfig } from '../../../operations/runtime/change-config.ts';
import { setKillSwitch } from '../../../operations/runtime/kill-switch.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, principalOf, readMutation } from '../../mutation.ts';
import { readQuery } from '../../query.ts';
import { pauseView } from '../../views/workflow.ts';
import { runtimeDeps } from './workflows.ts';

export const RuntimeBody = z.strictObject({ killSwitch: z.boolean() });

export async function readRuntime(deps: ApiDeps, caller: Caller, url: string): Promise<Response> {
  assertRole(caller, 'installation');
  readQuery(url, []);
  const { killSwitch, paused } = await readConfig({ ...deps.start, config: deps.config });
  const marks = [...paused]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, mark]) => [type, pauseView(mark)]);
  return Response.json({ killSwitch, paused: Object.fromEntries(marks) });
}

/** `woken`: runs of the caller's tenant among those enqueued at once when it is switched off. */
export async function putRuntime(deps: ApiDeps, caller: Caller, request: Request): Promise<Response> {
  assertRole(caller, 'installation');
  const mutation = await readMutation(request, RuntimeBody);
  return answerOnce(deps, caller, mutation, async () => {
    const { killSwitch } = mutation.body;
    const { tenantId } = caller;
    const set = { on: killSwitch, actor: principalOf(caller), tenantId };
    const { woken } = await setKillSwitch(runtimeDeps(deps), set);
    return { status: 200, body: { killSwitch, woken } };
  });
}
