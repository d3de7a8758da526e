/** Checks the documents of a run for damage, and repairs them. */
import { assertOwn, checkConsistency } from '../../operations/integrity/check.ts';
import { repairRun } from '../../operations/integrity/repair.ts';
import { assertRole } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { flag } from '../query.ts';
import type { ChangeHandler, ReadHandler, Sent } from '../route.ts';
import { consistencyView, repairView } from '../views/integrity.ts';
import { runOf } from './own-run.ts';

/** `GET /v1/runs/{id}/consistency`: problems in the documents of a run. Reads all of them, and writes nothing. */
export const readConsistency: ReadHandler<'GET /v1/runs/{id}/consistency'> = async (asked) => {
  const { start, integrity } = asked.deps;
  const reading = { ...start, reader: integrity, payloads: start.store };
  return consistencyView(await checkConsistency(reading, runOf(asked)));
};

type SentRepair = Sent<'POST /v1/runs/{id}/repair'>;

/**
 * `POST /v1/runs/{id}/repair`: the planned repair; `apply=true` applies it and requires an admin. Problems that need an
 * operator are reported, not refused: part of a run may be repaired meanwhile.
 */
export const repair: ChangeHandler<'POST /v1/runs/{id}/repair'> = {
  async before(sent) {
    if (isApplied(sent)) assertRole(sent.caller, 'admin');
    // A request about a missing run leaves no record.
    await assertOwn(repairDeps(sent.deps), runOf(sent));
  },
  async work(sent) {
    const report = await repairRun(repairDeps(sent.deps), { ...runOf(sent), apply: isApplied(sent) });
    return { status: 200, body: repairView(sent.params.id, report) };
  },
};

/** @throws CairnError INVALID_INPUT */
function isApplied({ query: { apply = 'false' } }: SentRepair): boolean {
  return flag('apply', apply);
}

function repairDeps({ start, integrity, registry, mailboxes }: ApiDeps) {
  return { ...start, registry, mailboxes, reader: integrity, repairs: integrity, payloads: start.store };
}
