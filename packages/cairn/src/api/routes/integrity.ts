/** Checks the documents of a run for damage, and repairs them. */
import { assertOwnRun, checkConsistency } from '../../operations/integrity/check.ts';
import { repairRun } from '../../operations/integrity/repair.ts';
import { assertRole } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import type { ChangeHandler, ReadHandler } from '../route.ts';
import { consistencyView, repairView } from '../views/integrity.ts';
import { runOf } from './own-run.ts';

/** `GET /v1/runs/{id}/consistency`: problems in the documents of a run. Reads all documents and writes none. */
export const readConsistency: ReadHandler<'GET /v1/runs/{id}/consistency'> = async (call) => {
  return consistencyView(await checkConsistency(repairDeps(call.deps), runOf(call)));
};

/**
 * `POST /v1/runs/{id}/repair`: the planned repair; `apply=true` applies it and requires an admin. Problems that need an
 * operator are reported, not refused: part of a run may be repaired meanwhile.
 */
export const repair: ChangeHandler<'POST /v1/runs/{id}/repair'> = {
  async before(call) {
    if (call.query.apply) assertRole(call.caller, 'admin');
    // A request about a missing run leaves no record.
    await assertOwnRun(repairDeps(call.deps), runOf(call));
  },
  async work(call) {
    const report = await repairRun(repairDeps(call.deps), { ...runOf(call), apply: call.query.apply });
    return { status: 200, body: repairView(call.params.id, report) };
  },
};

function repairDeps(deps: ApiDeps) {
  return { ...deps, reader: deps.integrity, repairs: deps.integrity, payloads: deps.store };
}
