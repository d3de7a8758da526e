/**
 * `GET /v1/restore`, `POST /v1/restore/begin` and `/release`: whether the installation is held because its database was restored.
 * That concerns the runs of every tenant, so it takes the role `installation`.
 */
import { z } from 'zod';
import { optional } from '../../../core/optional.ts';
import type { RestoreMark } from '../../../core/recovery/restored.ts';
import {
  beginRestore,
  type HomeDeps,
  readRestore,
  releaseRestore,
} from '../../../operations/restore/restore.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, principalOf, readMutation } from '../../mutation.ts';
import { readQuery } from '../../query.ts';
import { isoIf } from '../../views/values.ts';
import { runtimeDeps } from './workflows.ts';

export const RestoreBody = z.strictObject({});

export async function readRestoreFromApi(deps: ApiDeps, caller: Caller, url: string): Promise<Response> {
  assertRole(caller, 'installation');
  readQuery(url, []);
  const { held, restore } = await readRestore(homeDeps(deps));
  return Response.json(restoreView(deps, held, restore));
}

export async function beginFromApi(deps: ApiDeps, caller: Caller, request: Request): Promise<Response> {
  assertRole(caller, 'installation');
  const mutation = await readMutation(request, RestoreBody);
  return answerOnce(deps, caller, mutation, async () => {
    const mark = await beginRestore(homeDeps(deps), actingOf(caller));
    return { status: 200, body: restoreView(deps, mark.held, mark) };
  });
}

/** `woken`: runs of the caller's tenant among those enqueued at once. */
export async function releaseRestoreFromApi(
  deps: ApiDeps,
  caller: Caller,
  request: Request,
): Promise<Response> {
  assertRole(caller, 'installation');
  const mutation = await readMutation(request, RestoreBody);
  return answerOnce(deps, caller, mutation, async () => {
    const all = { ...runtimeDeps(deps), ...homeDeps(deps) };
    const { restore, woken } = await releaseRestore(all, actingOf(caller));
    return { status: 200, body: { ...restoreView(deps, restore?.held ?? false, restore), woken } };
  });
}

function actingOf(caller: Caller) {
  return { actor: principalOf(caller), tenantId: caller.tenantId };
}

function homeDeps({ start, config, home }: ApiDeps): HomeDeps {
  return { ...start, config, home };
}

function restoreView({ home }: ApiDeps, held: boolean, mark: RestoreMark | undefined) {
  return { home, held, ...optional('restoredAt', isoIf(mark?.at)), ...optional('by', mark?.by) };
}
