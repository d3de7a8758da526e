/** Selects the targets of a change of many runs by a filter, one page at a time. Changes nothing. */

import { mapConcurrently } from '../../core/map-concurrently.ts';
import type { RunStatus } from '../../core/run/status.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { PageRequest, RunFilter } from '../../ports/run-store.ts';
import { isOfDocument } from '../../ports/store-errors.ts';
import type { DeployedDefinitions } from '../inbox/questions.ts';
import { type MatchingDeps, matchingRuns } from '../search/matching-runs.ts';
import { plainApprovals } from './question.ts';
import type { BulkAct, BulkTarget } from './target.ts';

/** Statuses that an act concerns, used if the filter names none. */
const STATUSES_OF: Readonly<Record<BulkAct, readonly RunStatus[]>> = {
  cancel: ['pending', 'running', 'replaying', 'awaiting_approval', 'waiting_external', 'interrupted'],
  resume: ['failed', 'cancelled'],
  replay: ['completed', 'failed', 'cancelled'],
  approve: ['awaiting_approval'],
};

/** Runs whose questions are read at once. */
const CONCURRENT_RUNS = 5;

interface Selecting {
  readonly act: BulkAct;
  readonly filter: RunFilter;
  /** With `approve`: only questions of this step. */
  readonly step?: string | undefined;
  readonly page: PageRequest;
}

export interface Selected {
  readonly targets: readonly BulkTarget[];
  /** Cursor of the next page. */
  readonly next?: string | undefined;
}

export async function selectTargets(
  deps: JournalDeps & DeployedDefinitions & Pick<MatchingDeps, 'indexedRuns'>,
  { act, filter, step, page }: Selecting,
): Promise<Selected> {
  const wanted = filter.status === undefined ? { ...filter, status: STATUSES_OF[act] } : filter;
  const listed = await sendUntilKnown(deps, () => matchingRuns(deps, wanted, page));
  const ids = listed.items.map(({ state }) => state.id);
  const { next } = listed;
  if (act !== 'approve') return { targets: ids.map((runId) => ({ runId })), next };
  const candidates = await mapConcurrently(ids, CONCURRENT_RUNS, async (runId): Promise<BulkTarget[]> => {
    try {
      const loaded = await sendUntilKnown(deps, () => deps.store.load(runId, filter.tenantId));
      if (!loaded) return [];
      return plainApprovals(loaded.state, deps, { now: loaded.readAt, step }).map(
        (question): BulkTarget => ({ runId, stepId: question.step, waitId: question.wait?.id }),
      );
    } catch (error) {
      // A run that cannot be read must not stop the others: its own outcome says why.
      if (isOfDocument(error)) return [{ runId }];
      throw error;
    }
  });
  return { targets: candidates.flat(), next };
}
