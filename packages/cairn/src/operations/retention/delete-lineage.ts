/**
 * Carries out the decision about one lineage. Can be interrupted at any point and repeated: documents under the runs are
 * deleted first, then the ledger of the lineage, and the run documents last, because all others are found by them.
 *
 * Must not: decide; see core/retention/lineage.ts.
 */
import type { Cleared, LineageMember } from '../../ports/runs/retention-store.ts';
import type { CarryDeps } from './deps.ts';
import { type InspectedLineage, inspectLineage } from './inspect-lineage.ts';
import type { TickBudget } from './tick-budget.ts';

/**
 * `unfinished`: the next tick deletes the rest. `moved`: one of the runs was changed concurrently, and the lineage is checked
 * again.
 */
export type Done = 'gone' | 'kept' | 'waits' | 'marked' | 'moved' | 'deleted' | 'unfinished';

interface LineageWork {
  readonly rootRunId: string;
  readonly lineage: InspectedLineage;
  readonly budget: TickBudget;
}

/** @throws errors of the store; the next tick continues */
export async function deleteLineage(deps: CarryDeps, work: LineageWork): Promise<Done> {
  const { members, decision } = work.lineage;
  switch (decision.kind) {
    case 'gone':
      return 'gone';
    case 'keep':
      await unmark(deps, members, decision.unmark);
      return 'kept';
    case 'wait':
      return 'waits';
    case 'mark':
      return mark(deps, work, decision.runIds);
    case 'delete':
      return remove(deps, work);
  }
}

async function mark(
  deps: CarryDeps,
  { rootRunId, lineage: { members } }: LineageWork,
  runIds: readonly string[],
): Promise<Done> {
  const { retention, clock, log } = deps;
  const now = clock.now();
  for (const { runId, version } of members) {
    if (!runIds.includes(runId)) continue;
    const { kind } = await retention.mark(runId, version, now);
    if (kind === 'stale') return takeBack(deps, rootRunId);
  }
  log.info('lineage_marked', { rootRunId, runs: members.length });
  return 'marked';
}

/** Removes the marks when one of the runs is being held or resumed, so that the others are visible immediately, not at the next tick. */
async function takeBack(deps: CarryDeps, rootRunId: string): Promise<Done> {
  const { members, decision } = await inspectLineage(deps, rootRunId);
  if (decision.kind === 'keep') await unmark(deps, members, decision.unmark);
  return 'moved';
}

/** Conditional on the versions that were read. A concurrent writer has seen the mark. */
async function unmark(
  { retention, log }: CarryDeps,
  members: readonly LineageMember[],
  runIds: readonly string[],
): Promise<void> {
  for (const { runId, version } of members) {
    if (!runIds.includes(runId)) continue;
    await retention.mark(runId, version, undefined);
    log.info('run_kept', { runId });
  }
}

async function remove(
  { retention, log }: CarryDeps,
  { rootRunId, lineage: { members }, budget }: LineageWork,
): Promise<Done> {
  let documents = 0;
  const clear = (piece: (limit: number) => Promise<Cleared>) =>
    budget.clear(piece, (deleted) => {
      documents += deleted;
    });
  for (const { runId } of members)
    if (!(await clear((limit) => retention.deleteUnder(runId, limit)))) return 'unfinished';
  for (const { runId } of members)
    if (!(await clear((limit) => retention.deleteEffects(runId, limit)))) return 'unfinished';
  for (const { runId, version } of members) {
    if ((await retention.deleteRun(runId, version)).kind === 'stale') return 'unfinished';
    budget.deleted(1);
    documents += 1;
  }
  const { tenantId } = members[0] ?? {};
  log.info('lineage_deleted', { rootRunId, tenantId, runs: members.map(({ runId }) => runId), documents });
  return 'deleted';
}
