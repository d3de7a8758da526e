/**
 * `POST /v1/runs/{id}/repair`: the planned repair; `apply=true` applies it and requires an admin. Problems that need an
 * operator are reported, not refused: part of a run may be repaired meanwhile.
 */
import { assertOwn } from '../../../operations/integrity/check.ts';
import { repairRun } from '../../../operations/integrity/repair.ts';
import { assertRole } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { flag } from '../../query.ts';
import type { Change, Sent } from '../../route.ts';
import { repairView } from '../../views/integrity.ts';
import { runOf } from '../own-run.ts';

type Repair = Sent<'POST', '/v1/runs/{id}/repair'>;

export const repair: Change<'POST', '/v1/runs/{id}/repair'> = {
  async before(sent) {
    if (isApplied(sent)) assertRole(sent.caller, 'admin');
    // A request about a run that is not there leaves nothing behind.
    await assertOwn(repairDeps(sent.deps), runOf(sent));
  },
  async work(sent) {
    const report = await repairRun(repairDeps(sent.deps), { ...runOf(sent), apply: isApplied(sent) });
    return { status: 200, body: repairView(sent.params.id, report) };
  },
};

/** @throws CairnError INVALID_INPUT */
function isApplied({ query: { apply = 'false' } }: Repair): boolean {
  return flag('apply', apply);
}

function repairDeps({ start, integrity, registry, mailboxes }: ApiDeps) {
  return {
    ...start,
    registry,
    mailboxes,
    reader: integrity,
    repairs: integrity,
    payloads: start.store,
  };
}
