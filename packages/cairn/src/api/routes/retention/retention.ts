/** The retention of runs: when and why a run is deleted or kept, and its legal hold. */
import { holdRun, releaseRun } from '../../../operations/retention/hold.ts';
import { expiredRuns, retentionStateOf } from '../../../operations/retention/preview-retention.ts';
import type { ChangeHandler, ReadHandler } from '../../route.ts';
import { expiredRunView, holdView, runRetentionView } from '../../views/retention.ts';
import { assertOwnRun, runOf } from '../own-run.ts';

export const readRetention: ReadHandler<'GET /v1/runs/{id}/retention'> = async (call) =>
  runRetentionView(await retentionStateOf(call.deps, runOf(call)));

/** `GET /v1/retention`: runs past their retention period, each with its deletion or the reason it is kept. */
export const listExpired: ReadHandler<'GET /v1/retention'> = async ({ deps, caller, query }) => {
  const { items, next } = await expiredRuns(deps, caller.tenantId, query);
  return { items: items.map(expiredRunView), next };
};

/**
 * `POST /v1/runs/{id}/hold` and `/release-hold`: a hold keeps a run and all of its lineage after the retention period. Both
 * require an admin.
 */
export const hold: ChangeHandler<'POST /v1/runs/{id}/hold'> = {
  before: assertOwnRun,
  async work(call) {
    const run = runOf(call);
    const held = await holdRun(call.deps, run, call.body.reason);
    return { status: 200, body: { runId: run.runId, legalHold: holdView(held) } };
  },
};

export const release: ChangeHandler<'POST /v1/runs/{id}/release-hold'> = {
  before: assertOwnRun,
  async work(call) {
    const run = runOf(call);
    await releaseRun(call.deps, run);
    return { status: 200, body: { runId: run.runId } };
  },
};
