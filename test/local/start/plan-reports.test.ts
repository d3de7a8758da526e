import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PlanFinding } from '../../../packages/local/src/changed-plans.ts';
import { PlanReports } from '../../../packages/local/src/plan-reports.ts';

/** Number of live runs of the removed version of each workflow after a save; 0: the version exists. */
const save = fc.record({ order: fc.nat(2), refund: fc.nat(2) });

const answer = (items: readonly unknown[]) => new Response(JSON.stringify({ items }));
const workflow = ([type, liveRuns]: [string, number]) => ({
  type,
  newest: 1,
  versions: [{ planVersion: 1, deployed: liveRuns === 0, liveRuns }],
});

test('a version that blocks runs of an API is reported when it appears or changes, not at each save', async () => {
  const api = fc.constantFrom('api', 'kit-api');
  const saves = fc.array(fc.tuple(api, save), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(saves, async (made) => {
      let reported: readonly PlanFinding[] = [];
      const reports = new PlanReports((findings) => {
        expect(findings).not.toEqual([]);
        reported = findings;
      });
      const last: Record<string, Record<string, number>> = {};
      for (const [name, live] of made) {
        reported = [];
        await reports.check(name, async (path) =>
          answer(path === '/v1/workflows' ? Object.entries(live).map(workflow) : []),
        );
        const news = Object.entries(live).filter(
          ([type, runs]) => runs > 0 && runs !== (last[name]?.[type] ?? 0),
        );
        expect(reported.map(({ type, liveRuns }) => [type, liveRuns])).toEqual(news);
        last[name] = live;
      }
    }),
  );
});
