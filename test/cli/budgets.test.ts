import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { newDayBudget } from '../../packages/cairn/src/core/budget/day.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Stage } from './support/stage.ts';

const SPENT = {
  ...newDayBudget({ tenantId: 't1', day: '2026-01-01', limits: {} }),
  raised: { microUsd: 5_000_000 },
  raises: [
    { id: 'run_a ask.1.1.day', by: 'c.ada', at: Date.UTC(2026, 0, 1, 9), amounts: { microUsd: 5_000_000 } },
  ],
  spent: { microUsd: 1_200_000, effects: 3 },
  holds: [{ owner: 'a', granted: { microUsd: 100_000 }, expiresAt: Date.UTC(2026, 0, 1, 10) }],
};

test('cairn budgets shows each limit with what was spent and held, and who raised it', async () => {
  const stage = new Stage(undefined, undefined, { tenants: { t1: { usd: 50, effects: 2_000 } } });
  await stage.installation.world.dayBudgets.write(SPENT, undefined);
  const { code, out, err } = await stage.cairn(['budgets'], { role: 'viewer' });
  expect([code, out.split('\n').map((line) => line.trim().split(/ +/))]).toEqual([
    0,
    [['LIMIT', 'SPENT', 'RESERVED', 'OF'], ['usd', '1.2', '0.1', '55'], ['effects', '3', '0', '2000'], ['']],
  ]);
  expect(err).toBe(
    'The next day begins at 2026-01-02 00:00:00 UTC.\nc.ada raised it by 5 usd, 2026-01-01 09:00:00 UTC\n',
  );
  const other = await stage.cairn(['budgets', '--tenant', 'acme']);
  expect([other.code, other.out, other.err]).toEqual([0, '', 'acme has no budget of the day.\n']);
  expect((await stage.cairn(['budgets', '--tenant', 'acme'], { role: 'admin' })).code).not.toBe(0);
});

const asks = defineWorkflow({
  type: 'asks',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ done: step('ask', { estimate: { usd: 0.1 } }, ({ usage }) => usage({ usd: 0.1 })) }),
});

test('cairn explain shows that a run waits for amounts reserved by other runs, and its events at the end of the day', async () => {
  const stage = new Stage([asks], undefined, { perTenantAndDay: { usd: 0.1 } });
  const { world } = stage.installation;
  const held = { owner: 'another', granted: { microUsd: 100_000 }, expiresAt: world.clock.now() + 300_000 };
  const day = newDayBudget({ tenantId: 't1', day: '2026-01-01', limits: { microUsd: 100_000 } });
  await world.dayBudgets.write({ ...day, holds: [held] }, undefined);
  const runId = (await stage.cairn(['runs', 'start', 'asks'])).out.trim();
  await stage.driveUntil(() => world.stateOf(runId).steps.get('ask')?.phase === 'retrying');
  const { text, help, moves } = await stage.answer<{
    readonly text: string;
    readonly help: string;
    readonly moves: readonly { readonly words: readonly string[] }[];
  }>(['explain', 'last']);
  expect(text).toBe('Step ask waits: other runs hold the rest of what the tenant may spend on this day.');
  expect(help).toContain('starts once other runs of the tenant have released what they reserved');
  expect(moves.map(({ words }) => words[0])).toEqual(['runs', 'budgets']);

  // The other dispatch dies, so its hold counts as spent, and the run asks until the next day begins.
  await stage.driveUntil(() => world.stateOf(runId).status === 'completed');
  expect(world.clock.now()).toBeGreaterThanOrEqual(Date.UTC(2026, 0, 2));
  const { out } = await stage.cairn(['runs', 'events', 'last']);
  expect(out).toContain('resumed, the day of the budget has ended');
  expect(out).not.toContain('answered');
});
