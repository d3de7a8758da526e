/** A raise of the budget of a day, and which other runs continue after it. */
import { describe, expect, test } from '@jest/globals';
import { dayLimits } from '../../../packages/cairn/src/core/budget/day-limits.ts';
import { MemoryRunFinder } from '../../../packages/cairn/src/memory/memory-run-finder.ts';
import { intercept } from '../../support/intercept.ts';
import { calling, reached, Tenant } from './tenant.ts';

const eventsOf = (tenant: Tenant, id: string, type: string) =>
  (tenant.world.db.runs.get(id)?.events ?? []).filter((event) => event.type === type);

describe('when an answer raises the limit of the day, the other waiting runs', () => {
  test('continue if they fit, and otherwise keep their question', async () => {
    const { tenant, asking } = await reached(5);
    const [, approved = ''] = asking;
    await tenant.decide(approved, 'approve', { raise: { usd: 0.3 } });
    await tenant.run();
    expect(tenant.statuses()).toEqual({ completed: 4, awaiting_approval: 1 });
    expect(await tenant.today()).toMatchObject({
      raises: [{ by: 'c.ada', amounts: { microUsd: 300_000 } }],
      spent: { microUsd: 400_000 },
    });
    for (const id of asking.filter((one) => one !== approved)) {
      expect(eventsOf(tenant, id, 'wait_opened')).toHaveLength(1);
      const answers = eventsOf(tenant, id, 'wait_resolved');
      if (tenant.world.stateOf(id).status === 'awaiting_approval') expect(answers).toEqual([]);
      else expect(answers).toMatchObject([{ initiator: 'approval', actor: 'c.ada' }]);
    }
  });

  test('continue if they fit: each needs the estimate of the operation of a flow that asks', async () => {
    const tenant = new Tenant({ perTenantAndDay: { usd: 0.1 } }, (step) => ({
      all: step.flow('all', {}, async (flow) => {
        await flow.step('ask', ({ usage }) => usage({ usd: 0.1 }), { estimate: { usd: 0.1 } });
      }),
    }));
    await tenant.start(5);
    await tenant.run();
    const [approved = ''] = tenant.asking();
    await tenant.decide(approved, 'approve', { raise: { usd: 0.2 } });
    await tenant.run();
    expect(tenant.statuses()).toEqual({ completed: 3, awaiting_approval: 2 });
    for (const id of tenant.asking()) expect(eventsOf(tenant, id, 'wait_opened')).toHaveLength(1);
  });

  test('do not continue if the raise is for the answered run only', async () => {
    const { tenant, asking } = await reached(3);
    const [approved = '', other = ''] = asking;
    await tenant.decide(approved, 'approve', { raise: { usd: 0.1 } });
    await tenant.run();
    expect(tenant.statuses()).toEqual({ completed: 2, awaiting_approval: 1 });
    expect(eventsOf(tenant, other, 'wait_resolved')).toEqual([]);
  });

  test.each([
    ['raised enough for one of them', { perTenantAndDay: { usd: 0.3 } }, 3],
    ['lifted', { tenants: { t1: 'unlimited' } }, 5],
  ] as const)('a limit that a deployment has %s since is not raised again', async (_, budgets, completed) => {
    const { tenant, asking } = await reached(5);
    const { deps } = tenant.world;
    const deployed = { ...deps, dayLimits: dayLimits(budgets) };
    await tenant.decide(asking[0] ?? '', 'approve', {}, deployed);
    expect(await tenant.today()).toMatchObject({ raised: {} });
    await tenant.run(deployed);
    expect(tenant.statuses()).toMatchObject({ completed });
    expect(tenant.asking()).toHaveLength(5 - completed);
  });

  test('continue in the order of their questions, however many newer runs ask', async () => {
    const { tenant, asking: longest } = await reached(6);
    tenant.world.clock.jump(60_000);
    await tenant.start(110);
    await tenant.run();
    await tenant.decide(tenant.asking().at(-1) ?? '', 'approve', { raise: { usd: 0.6 } });
    await tenant.run();
    expect(longest.map((id) => tenant.world.stateOf(id).status)).toEqual(longest.map(() => 'completed'));
    expect(tenant.asking()).toHaveLength(109);
  });

  test('those of other tenants are unaffected', async () => {
    const tenant = new Tenant({ perTenantAndDay: { usd: 0.1 } }, calling({ usd: 0 }, { usd: 0.1 }));
    await tenant.start(2, 't1');
    await tenant.start(2, 't2');
    await tenant.run();
    const approved = tenant.asking().find((id) => tenant.world.stateOf(id).tenantId === 't1') ?? '';
    await tenant.decide(approved, 'approve', { raise: { usd: 5 } });
    await tenant.run();
    expect(tenant.statuses()).toEqual({ completed: 3, awaiting_approval: 1 });
    expect(tenant.asking().map((id) => tenant.world.stateOf(id).tenantId)).toEqual(['t2']);
  });

  test('keep an answer that a person has given meanwhile', async () => {
    const { tenant, asking } = await reached(3);
    const [approved = '', rejected = ''] = asking;
    const { deps } = tenant.world;
    const finder = intercept(new MemoryRunFinder(tenant.world.db), async (_, proceed) => {
      const found = await proceed();
      await tenant.decide(rejected, 'reject');
      return found;
    });
    await tenant.decide(approved, 'approve', { raise: { usd: 5 } }, { ...deps, finder });
    await tenant.run();
    expect(tenant.statuses()).toEqual({ completed: 2, failed: 1 });
    expect(eventsOf(tenant, rejected, 'wait_resolved')).toMatchObject([{ data: { decision: 'reject' } }]);
  });

  test('do not continue if they cannot be found, and the answer still counts', async () => {
    const { tenant, asking } = await reached(3);
    const [approved = ''] = asking;
    const { deps } = tenant.world;
    const finder = { asking: () => Promise.reject(new Error('unreachable')) };
    await tenant.decide(approved, 'approve', { raise: { usd: 5 } }, { ...deps, finder });
    await tenant.run();
    expect(tenant.statuses()).toEqual({ completed: 2, awaiting_approval: 1 });
  });
});
