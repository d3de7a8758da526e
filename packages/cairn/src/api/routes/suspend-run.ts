/** `POST /v1/runs/{id}/suspend` and `/continue`: an operator has a run stand, and go on. */
import { z } from 'zod';
import { loadOwn } from '../../operations/outside-append.ts';
import { continueRun, suspendRun } from '../../operations/suspend-run.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { answerOnce, principalOf, readMutation } from '../mutation.ts';
import { iso } from '../views/values.ts';
import type { RunAddress } from './read-runs.ts';

/** A sentence or two; it stands in the snapshot and in every list. */
const MAX_REASON_CHARS = 1_000;
const Reason = z.string().trim().min(1).max(MAX_REASON_CHARS);

/** Whoever finds the run standing must be told why. */
export const SuspendBody = z.strictObject({ reason: Reason });
export const ContinueBody = z.strictObject({ reason: Reason.optional() });

type OfRun = RunAddress & { readonly request: Request };

export async function suspendFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, request }: OfRun,
): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(request, SuspendBody);
  const run = { runId, tenantId: caller.tenantId, actor: principalOf(caller) };
  // Before anything is kept: a request about a run that is not there leaves nothing behind.
  await loadOwn(deps.start, run);
  return answerOnce(deps, caller, mutation, async () => {
    const suspension = await suspendRun(deps.start, { ...run, reason: mutation.body.reason });
    return { status: 200, body: { ...suspension, requestedAt: iso(suspension.requestedAt) } };
  });
}

export async function continueFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, request }: OfRun,
): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(request, ContinueBody);
  const run = { runId, tenantId: caller.tenantId, actor: principalOf(caller) };
  await loadOwn(deps.start, run);
  return answerOnce(deps, caller, mutation, async () => {
    const continued = await continueRun(deps.start, { ...run, reason: mutation.body.reason });
    return { status: 200, body: { ...continued } };
  });
}
