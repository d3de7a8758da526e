/**
 * `POST /v1/runs/{id}/hold` and `/release-hold`: whether a run, and all of its lineage, may be deleted when it has been kept
 * long enough. Takes an admin both ways.
 */
import { z } from 'zod';
import { loadOwn } from '../../../operations/outside-append.ts';
import { holdRun, releaseRun } from '../../../operations/retention/hold.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, principalOf, readMutation } from '../../mutation.ts';
import { holdView } from '../../views/retention.ts';
import type { RunAddress } from '../read-runs.ts';

/** A case number and a sentence; who holds a run must say why. */
const MAX_REASON_CHARS = 500;

export const HoldBody = z.strictObject({ reason: z.string().trim().min(1).max(MAX_REASON_CHARS) });
export const ReleaseHoldBody = z.strictObject({});

type OfRun = RunAddress & { readonly request: Request };

export async function holdFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, request }: OfRun,
): Promise<Response> {
  assertRole(caller, 'admin');
  const mutation = await readMutation(request, HoldBody);
  const run = { runId, tenantId: caller.tenantId, actor: principalOf(caller) };
  const holding = { ...deps.start, retention: deps.retention };
  // Before anything is kept: a request about a run that is not there leaves nothing behind.
  await loadOwn(deps.start, run);
  return answerOnce(deps, caller, mutation, async () => {
    const hold = await holdRun(holding, run, mutation.body.reason);
    return { status: 200, body: { runId, legalHold: holdView(hold) } };
  });
}

export async function releaseFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, request }: OfRun,
): Promise<Response> {
  assertRole(caller, 'admin');
  const mutation = await readMutation(request, ReleaseHoldBody);
  const run = { runId, tenantId: caller.tenantId, actor: principalOf(caller) };
  const holding = { ...deps.start, retention: deps.retention };
  await loadOwn(deps.start, run);
  return answerOnce(deps, caller, mutation, async () => {
    await releaseRun(holding, run);
    return { status: 200, body: { runId } };
  });
}
