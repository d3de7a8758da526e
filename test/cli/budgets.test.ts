import { expect, test } from '@jest/globals';
import { newDayBudget } from '../../packages/cairn/src/core/budget/day.ts';
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
    [['LIMIT', 'SPENT', 'HELD', 'OF'], ['usd', '1.2', '0.1', '55'], ['effects', '3', '0', '2000'], ['']],
  ]);
  expect(err).toBe(
    'The next day begins at 2026-01-02 00:00:00 UTC.\nc.ada raised it by 5 usd, 2026-01-01 09:00:00 UTC\n',
  );
  const other = await stage.cairn(['budgets', '--tenant', 'acme']);
  expect([other.code, other.out, other.err]).toEqual([0, '', 'acme has no budget of the day.\n']);
  expect((await stage.cairn(['budgets', '--tenant', 'acme'], { role: 'admin' })).code).not.toBe(0);
});
