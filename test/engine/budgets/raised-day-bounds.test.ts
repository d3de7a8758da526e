/** Bounds of the search for other runs that a raise of the day continues. */
import { expect, test } from '@jest/globals';
import { MemoryRunFinder } from '../../../packages/cairn/src/memory/memory-run-finder.ts';
import type { RunFinder } from '../../../packages/cairn/src/ports/runs/run-finder.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { intercept } from '../../support/intercept.ts';
import { reached } from './tenant.ts';

test('a raise continues another run, though a thousand runs before it ask about something else', async () => {
  const { tenant, asking } = await reached(3);
  const [runId = '', other = ''] = asking;
  const finder = new MemoryRunFinder(tenant.world.db);
  const before = Array.from({ length: 100 }, () => ({ ...tenant.world.stateOf(other), waits: [] }));
  let pages = 0;
  const crowded: Pick<RunFinder, 'asking'> = {
    async asking(tenantId) {
      pages += 1;
      return pages > 10 ? finder.asking(tenantId, { limit: 100 }) : { items: before, next: 'more' };
    },
  };
  await tenant.decide(runId, 'approve', { raise: { usd: 5 } }, { ...tenant.world.deps, finder: crowded });
  await tenant.run();
  expect(tenant.statuses()).toEqual({ completed: 3 });
});

test('a raise continues the runs read before an unreadable page', async () => {
  const { tenant, asking } = await reached(3);
  const [runId = ''] = asking;
  const finder = new MemoryRunFinder(tenant.world.db);
  const failing: Pick<RunFinder, 'asking'> = {
    async asking(tenantId, { cursor }) {
      if (cursor !== undefined) throw new Error('the store does not answer');
      return { ...(await finder.asking(tenantId, { limit: 100 })), next: 'more' };
    },
  };
  await tenant.decide(runId, 'approve', { raise: { usd: 5 } }, { ...tenant.world.deps, finder: failing });
  await tenant.run();
  expect(tenant.statuses()).toEqual({ completed: 3 });
});

test('a raise reads runs for some seconds at most, and says that there are more', async () => {
  const { tenant, asking } = await reached(3);
  const { clock, deps } = tenant.world;
  const log = new CollectedLog(clock);
  const endless: Pick<RunFinder, 'asking'> = {
    async asking() {
      clock.jump(1_000);
      return { items: [], next: 'more' };
    },
  };
  await tenant.decide(asking[0] ?? '', 'approve', {}, { ...deps, log, finder: endless });
  expect(log.lines.filter(({ event }) => event === 'day_budget_resumed_in_part')).toMatchObject([
    { level: 'warn', fields: { day: '2026-01-01', read: 500 } },
  ]);
});

test('a raise continues runs for some seconds at most, and says that some are left', async () => {
  const { tenant, asking } = await reached(14);
  const { clock, deps } = tenant.world;
  const log = new CollectedLog(clock);
  const store = intercept(deps.store, ({ method }, proceed) => {
    if (method === 'load') clock.jump(60_000);
    return proceed();
  });
  await tenant.decide(asking[0] ?? '', 'approve', { raise: { usd: 5 } }, { ...deps, log, store });
  expect(log.lines.filter(({ event }) => event.startsWith('day_budget_resumed'))).toMatchObject([
    { event: 'day_budget_resumed_in_part', level: 'warn', fields: { day: '2026-01-01', left: 2 } },
    { event: 'day_budget_resumed', fields: { runs: 10 } },
  ]);
  expect(tenant.asking().length).toBe(2);
});
