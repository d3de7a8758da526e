/**
 * Deletes inputs of starts that created no run: a large input is stored under the id of the future run, and remains if the process dies
 * before the commit. It is deleted after a week, when the start can no longer be repeated. Results of effects without a run are
 * deleted once all rows of their owner have expired.
 */

import type { DeletionDeps } from './deps.ts';
import { DELETES_A_COMMIT, type TickBudget } from './tick-budget.ts';

/** A repeated start writes its input again, and commits within a minute of that. */
const ORPHAN_AGE_MS = 7 * 24 * 3_600_000;
/** Runs with payloads read at once. */
const OWNERS_A_PAGE = 25;

interface OrphanSearch {
  /** The last owner that was checked. */
  readonly after: string | undefined;
  /** Most owners checked. */
  readonly owners: number;
  readonly budget: TickBudget;
}

interface OrphansDeleted {
  /** Position to continue from; undefined: the beginning. */
  readonly next: string | undefined;
  readonly deleted: number;
}

/** @throws errors of the store; the next tick continues */
export async function deleteOrphans(
  { retention, clock, log }: DeletionDeps,
  { after, owners, budget }: OrphanSearch,
): Promise<OrphansDeleted> {
  let next = after;
  let deleted = 0;
  for (let checked = 0; checked < owners && !budget.isOverdue; ) {
    const page = await retention.payloadOwners(next, Math.min(OWNERS_A_PAGE, owners - checked));
    for (const { runId, writtenAt } of page) {
      next = runId;
      if (clock.now() - writtenAt < ORPHAN_AGE_MS) continue;
      const documents = await removeAll(runId);
      if (documents === 0) continue;
      deleted += 1;
      log.info('orphan_deleted', { runId, documents });
    }
    if (page.length === 0) return { next: undefined, deleted };
    checked += page.length;
  }
  return { next, deleted };

  /** Not limited by the budget: a value has at most 37 chunks. */
  async function removeAll(runId: string): Promise<number> {
    for (let documents = 0; ; ) {
      const cleared = await retention.deleteOrphans(runId, DELETES_A_COMMIT);
      budget.deleted(cleared.deleted);
      documents += cleared.deleted;
      if (!cleared.more) return documents;
    }
  }
}
