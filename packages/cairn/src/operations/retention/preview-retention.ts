/** Retention preview: for one run, and for all runs of a tenant past their retention period. */
import type { LegalHold } from '../../core/retention/lineage.ts';
import { expireAt } from '../../core/retention/policy.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Page, PageRequest } from '../../ports/run-store.ts';
import type { Bucket } from '../../ports/runs/retention-store.ts';
import { loadOwn } from '../append-to-run.ts';
import type { LineageDeps } from './deps.ts';
import { eachExpired, placeText, readPlace } from './each-expired.ts';
import { type InspectedLineage, inspectLineage } from './inspect-lineage.ts';

export interface RetentionState {
  readonly runId: string;
  readonly rootRunId: string;
  readonly runs: number;
  readonly decision: InspectedLineage['decision'];
}

export interface RunRetentionState extends RetentionState {
  /** End of the retention period, epoch ms; undefined if it is unlimited or the run has not ended. */
  readonly expireAt: number | undefined;
  readonly hold: LegalHold | undefined;
}

export interface ExpiredRun extends RetentionState, Bucket {
  readonly completedAt: number;
}

type RetentionStateDeps = LineageDeps & JournalDeps;

/**
 * Most runs checked per page, including those of other tenants: about 400 reads. A page that reaches it has fewer runs
 * than requested, and a cursor.
 */
const MAX_INSPECTED = 200;

/** @throws CairnError RUN_NOT_FOUND, UNAVAILABLE */
export async function retentionStateOf(
  deps: RetentionStateDeps,
  run: { readonly runId: string; readonly tenantId: string },
): Promise<RunRetentionState> {
  const { state, metadata } = await loadOwn(deps, run);
  const { members, decision } = await sendUntilKnown(deps, () => inspectLineage(deps, state.rootRunId));
  return {
    runId: state.id,
    rootRunId: state.rootRunId,
    runs: members.length,
    decision,
    expireAt: expireAt(state, deps.retentionOf),
    hold: metadata.legalHold,
  };
}

/** In the order in which ticks visit them. @throws CairnError INVALID_INPUT for the cursor, UNAVAILABLE */
export async function expiredRuns(
  deps: LineageDeps,
  tenantId: string,
  { limit, cursor }: PageRequest,
): Promise<Page<ExpiredRun>> {
  const from = cursor === undefined ? undefined : readPlace(cursor);
  const lineages = new Map<string, ReturnType<typeof inspectLineage>>();
  const items: ExpiredRun[] = [];
  let inspected = 0;
  for await (const { bucket, runs, place } of eachExpired(deps, from)) {
    for (const run of runs) {
      const { runId, rootRunId, completedAt } = run;
      if (run.tenantId === tenantId) {
        const inspection = lineages.get(rootRunId) ?? inspectLineage(deps, rootRunId);
        lineages.set(rootRunId, inspection);
        const { members, decision } = await inspection;
        items.push({ ...bucket, runId, rootRunId, completedAt, runs: members.length, decision });
      }
      inspected += 1;
      if (items.length === limit || inspected >= MAX_INSPECTED)
        return { items, next: placeText({ ...bucket, after: { completedAt, runId } }) };
    }
    // A bucket without runs counts as one inspection.
    if (runs.length === 0) inspected += 1;
    if (inspected >= MAX_INSPECTED) return { items, next: placeText(place) };
  }
  return { items };
}
