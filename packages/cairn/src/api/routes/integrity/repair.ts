/**
 * `POST /v1/runs/{id}/repair`: what a repair would change; with `apply=true` it is changed, which takes an admin. What
 * takes a person is told, not refused as a request: part of a run may be repaired while the rest waits for somebody.
 */
import { z } from 'zod';
import { CairnError } from '../../../core/errors.ts';
import { assertOwn } from '../../../operations/integrity/check.ts';
import { repairRun } from '../../../operations/integrity/repair.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, principalOf, readMutationWith } from '../../mutation.ts';
import { repairView } from '../../views/integrity.ts';
import type { RunAddress } from '../read-runs.ts';

export const RepairBody = z.strictObject({});

export async function repairFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, request }: RunAddress & { readonly request: Request },
): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutationWith(request, RepairBody, ['apply']);
  const apply = isApplied(mutation.query.apply);
  if (apply) assertRole(caller, 'admin');
  const { start, integrity, registry, rendezvous } = deps;
  const { tenantId } = caller;
  const repair = {
    ...start,
    registry,
    rendezvous,
    reader: integrity,
    repairs: integrity,
    payloads: start.store,
  };
  const asked = { runId, tenantId, actor: principalOf(caller) };
  // Before anything is kept: a request about a run that is not there leaves nothing behind.
  await assertOwn(repair, asked);
  return answerOnce(deps, caller, mutation, async () => {
    const report = await repairRun(repair, { ...asked, apply });
    return { status: 200, body: repairView(runId, report) };
  });
}

/** @throws CairnError INVALID_INPUT */
function isApplied(asked: string | undefined): boolean {
  if (asked === undefined || asked === 'false') return false;
  if (asked === 'true') return true;
  throw new CairnError('INVALID_INPUT', 'the query parameter apply must be true or false', {
    field: 'apply',
  });
}
