/**
 * `POST /v1/runs/{id}/hold` and `/release-hold`: whether a run, and all of its lineage, may be deleted when it has been kept
 * long enough. Takes an admin both ways.
 */
import { holdRun, releaseRun } from '../../../operations/retention/hold.ts';
import type { ApiDeps } from '../../deps.ts';
import type { Change } from '../../route.ts';
import { holdView } from '../../views/retention.ts';
import { assertOwnRun, runOf } from '../own-run.ts';

export const hold: Change<'POST', '/v1/runs/{id}/hold'> = {
  before: assertOwnRun,
  async work(sent) {
    const run = runOf(sent);
    const held = await holdRun(holdDeps(sent.deps), run, sent.body.reason);
    return { status: 200, body: { runId: run.runId, legalHold: holdView(held) } };
  },
};

export const release: Change<'POST', '/v1/runs/{id}/release-hold'> = {
  before: assertOwnRun,
  async work(sent) {
    const run = runOf(sent);
    await releaseRun(holdDeps(sent.deps), run);
    return { status: 200, body: { runId: run.runId } };
  },
};

function holdDeps({ start, retention }: ApiDeps) {
  return { ...start, retention };
}
