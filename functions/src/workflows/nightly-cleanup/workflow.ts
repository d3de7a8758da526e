/**
 * Removes items that have been unused for a long time. An unusually large removal needs approval, a few failures are tolerated, and
 * the removal is verified later.
 */
import { defineWorkflow, degraded, type Workflow } from 'cairn';
import { callFrom } from '../outside-call.ts';
import type { Janitor } from './janitor.ts';
import { reportOf, shortcomings } from './report.ts';
import { CleanupRequest, staleItems } from './request.ts';

/** Concurrent calls: an acceptable load for the receiver at night. */
const CONCURRENCY = 8;
/** If a larger share cannot be removed, the cause is probably not the items. */
const TOLERATED = '20%';

export function nightlyCleanupBy(janitor: Janitor): Workflow {
  return defineWorkflow({
    type: 'nightly-cleanup',
    planVersion: 1,
    input: CleanupRequest,
    timeout: '1d',
    on: { schedule: { cron: '0 3 * * *' } },
    steps(step) {
      const stale = step('find-stale', async ({ input, ...context }) => {
        const items = input.items ?? (await janitor.list(callFrom(context)));
        return staleItems({ ...input, items });
      });
      const confirmed = step.approval('confirm', {
        needs: { stale },
        when: ({ input, stale }) => stale.length > input.confirmAbove,
        ask: ({ input, stale }) => ({
          question: input.items
            ? `Remove ${stale.length} of ${input.items.length}?`
            : `Remove ${stale.length}?`,
          details: { first: stale.slice(0, 10).map(({ id }) => id), olderThan: input.olderThan },
        }),
        timeout: '12h',
        // Nobody approved the removal. The next night asks again.
        onExpiry: 'halt',
      });
      const removed = step.map(
        'remove',
        {
          needs: { stale, confirmed },
          ifSkipped: 'run',
          over: ({ stale }) => stale,
          concurrency: CONCURRENCY,
          completion: { tolerate: TOLERATED },
          retry: { maxAttempts: 4 },
        },
        async (context) => {
          await janitor.remove(context.item, callFrom(context, context.item.id));
          return context.item.id;
        },
      );
      const settled = step.sleep('settle', {
        needs: { removed },
        when: ({ removed }) => removed.length > 0,
        for: ({ input }) => input.settle,
      });
      const left = step.map(
        'look-again',
        {
          needs: { stale, settled },
          ifSkipped: 'run',
          over: ({ stale }) => stale,
          concurrency: CONCURRENCY,
          completion: { tolerate: '100%' },
        },
        (context) => janitor.exists(context.item, callFrom(context, context.item.id)),
      );
      const report = step('report', { needs: { stale, removed, left } }, (outcomes) => {
        const report = reportOf(outcomes);
        const reason = shortcomings(report);
        return reason === undefined ? report : degraded(report, reason);
      });
      return { report };
    },
  });
}
