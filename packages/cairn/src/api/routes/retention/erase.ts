/**
 * `POST /v1/runs/{id}/erase` (admin), `POST /v1/erasures` (of a tenant, role `installation`), `GET /v1/erasures/{id}`. Nothing
 * brings back what is erased, so the body repeats what is to go.
 */
import { z } from 'zod';
import { CairnError } from '../../../core/errors.ts';
import type { Erasure } from '../../../core/retention/erasure.ts';
import {
  assertErasable,
  type EraseDeps,
  eraseRun,
  eraseTenant,
  readErasure,
} from '../../../operations/retention/erasure/request.ts';
import { assertRole, type Caller, mayActAs } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, principalOf, readMutation } from '../../mutation.ts';
import { readQuery } from '../../query.ts';
import { iso, isoIf } from '../../views/values.ts';
import type { RunAddress } from '../read-runs.ts';

const MAX_ID_CHARS = 200;
const Id = z.string().min(1).max(MAX_ID_CHARS);

export const EraseRunBody = z.strictObject({ confirm: Id });
export const EraseTenantBody = z.strictObject({ tenantId: Id, confirm: Id });

export async function eraseRunFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, request }: RunAddress & { readonly request: Request },
): Promise<Response> {
  assertRole(caller, 'admin');
  const mutation = await readMutation(request, EraseRunBody);
  assertConfirmed(mutation.body.confirm, runId, 'the id of the run');
  const run = { runId, tenantId: caller.tenantId, actor: principalOf(caller) };
  // Before anything is kept: a request about a run that is not there leaves nothing behind.
  await assertErasable(eraseDeps(deps), run);
  return answerOnce(deps, caller, mutation, async () => accepted(await eraseRun(eraseDeps(deps), run)));
}

export async function eraseTenantFromApi(deps: ApiDeps, caller: Caller, request: Request): Promise<Response> {
  assertRole(caller, 'installation');
  const mutation = await readMutation(request, EraseTenantBody);
  const { tenantId, confirm } = mutation.body;
  assertConfirmed(confirm, tenantId, 'the id of the tenant');
  const tenant = { erased: tenantId, actor: principalOf(caller) };
  return answerOnce(deps, caller, mutation, async () => accepted(await eraseTenant(eraseDeps(deps), tenant)));
}

export async function readErasureFromApi(
  deps: ApiDeps,
  caller: Caller,
  { id, url }: { readonly id: string; readonly url: string },
): Promise<Response> {
  assertRole(caller, 'admin');
  readQuery(url, []);
  const tenantId = mayActAs(caller.role, 'installation') ? undefined : caller.tenantId;
  return Response.json(erasureView(await readErasure(eraseDeps(deps), id, tenantId)));
}

function assertConfirmed(said: string, meant: string, what: string): void {
  if (said === meant) return;
  throw new CairnError('INVALID_INPUT', `confirm must be ${what} to erase`, { field: 'confirm' });
}

function accepted(erasure: Erasure) {
  return { status: 202, body: erasureView(erasure) };
}

function erasureView({ id, scope, state, roots, keptBy, gone, requestedAt, finishedAt }: Erasure) {
  return {
    id,
    scope,
    state,
    lineagesLeft: roots.length,
    ...(keptBy && { keptBy }),
    gone: { ...gone },
    requestedAt: iso(requestedAt),
    ...(finishedAt !== undefined && { finishedAt: isoIf(finishedAt) }),
  };
}

function eraseDeps({ start, retention, erasures, retentionOf }: ApiDeps): EraseDeps {
  return { ...start, retention, erasures, retentionOf };
}
