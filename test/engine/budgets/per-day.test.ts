/** Budgets of a tenant's UTC day: what the runs of the tenant spend together stays below it, and they ask before they exceed it. */
import { describe, expect, test } from '@jest/globals';
import { usedOf } from '../../../packages/cairn/src/core/budget/day.ts';
import type { BudgetOptions } from '../../../packages/cairn/src/core/budget/day-limits.ts';
import type { WorkflowOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { intercept } from '../../support/intercept.ts';
import { Outside } from '../../support/outside.ts';
import { calling, reached, Tenant } from './tenant.ts';

const HOUR = 3_600_000;
const RUNS = 50;

describe('fifty runs of one tenant at once', () => {
  test('with an estimate never exceed the limit: those that do not fit ask', async () => {
    const spent = { usd: 0 };
    const tenant = new Tenant({ perTenantAndDay: { usd: 1 } }, calling(spent, { usd: 0.1 }));
    await tenant.start(RUNS);
    await tenant.run();
    expect(spent.usd).toBeCloseTo(1);
    expect(tenant.statuses()).toEqual({ completed: 10, awaiting_approval: 40 });
    expect(await tenant.today()).toMatchObject({ spent: { microUsd: 1_000_000 }, holds: [] });
    const [asking = ''] = tenant.asking();
    const [wait] = tenant.world.stateOf(asking).waits;
    expect(wait).toMatchObject({ kind: 'approval', purpose: 'budget', day: '2026-01-01' });
    expect(JSON.parse(wait?.detailText ?? '')).toMatchObject({
      question: expect.stringMatching(
        /^The tenant has reached its budget of 2026-01-01 \(UTC\): 1\.00 USD of 1\.00 USD spent\. 'ask' waits and needs up to 0\.10 USD and begins by itself at 2026-01-02T00:00:00\.000Z\. Raise the budget of the day, fail the step or cancel the run\?$/,
      ),
      budget: { day: '2026-01-01', reached: ['microUsd'], spent: { usd: 1 }, limits: { usd: 1 } },
    });
  });

  test('without an estimate never exceed the limit once one of the same kind has ended', async () => {
    const spent = { usd: 0 };
    const tenant = new Tenant({ perTenantAndDay: { usd: 1 } }, calling(spent));
    await tenant.start(1);
    await tenant.run();
    await tenant.start(RUNS);
    await tenant.run();
    expect(spent.usd).toBeCloseTo(1);
    expect(tenant.statuses()).toEqual({ completed: 10, awaiting_approval: 41 });
  });

  test("of a kind that has never run are reserved at the installation's estimate", async () => {
    const spent = { usd: 0 };
    const tenant = new Tenant({ perTenantAndDay: { usd: 1, estimate: { usd: 0.2 } } }, calling(spent));
    await tenant.start(RUNS);
    await tenant.run();
    expect(spent.usd).toBeLessThanOrEqual(1.0001);
  });

  test('make as many calls with side effects as the tenant has left', async () => {
    const outside = new Outside();
    const { capability } = outside;
    const tenant = new Tenant(
      { perTenantAndDay: { effects: 7 } },
      (step) => ({
        send: step('send', { uses: [capability] }, async ({ perform }) => perform(capability, { text: 'x' })),
      }),
      { bindings: [outside.binding] },
    );
    await tenant.start(RUNS);
    await tenant.run();
    expect(outside.applied.length).toBe(7);
    expect(tenant.statuses()).toEqual({ completed: 7, awaiting_approval: 43 });
  });

  test('of other tenants are unaffected', async () => {
    const spent = { usd: 0 };
    const budgets = {
      perTenantAndDay: { usd: 0.1 },
      tenants: { t2: 'unlimited' as const, t3: { usd: 0.3 } },
    };
    const tenant = new Tenant(budgets, calling(spent, { usd: 0.1 }));
    await tenant.start(5, 't1');
    await tenant.start(5, 't2');
    await tenant.start(5, 't3');
    await tenant.run();
    expect(tenant.statuses()).toEqual({ completed: 9, awaiting_approval: 6 });
    expect(await tenant.world.dayBudgets.read('t2', '2026-01-01')).toBeUndefined();
  });
});

test('fifty calls of one run are admitted together, and stop at the limit', async () => {
  let calls = 0;
  const tenant = new Tenant({ perTenantAndDay: { usd: 2 } }, (step) => ({
    all: step.map(
      'call',
      { over: () => Array.from({ length: 50 }, (_, i) => i), concurrency: 50, estimate: { usd: 0.1 } },
      async ({ usage }) => {
        calls += 1;
        usage({ usd: 0.05 });
      },
    ),
  }));
  await tenant.start(1);
  await tenant.run();
  // Each costs half of what it reserved, and the last needs its whole estimate.
  expect(calls).toBe(39);
  expect(await tenant.today()).toMatchObject({ spent: { microUsd: 1_950_000 }, holds: [] });
});

test('fifty calls of one run without an estimate exceed the limit by one call at most', async () => {
  let calls = 0;
  const tenant = new Tenant({ perTenantAndDay: { usd: 0.32 } }, (step) => ({
    all: step.map(
      'call',
      { over: () => Array.from({ length: 50 }, (_, i) => i), concurrency: 50 },
      async ({ usage }) => {
        calls += 1;
        usage({ usd: 0.1 });
      },
    ),
  }));
  await tenant.start(1);
  await tenant.run();
  // The first runs alone, and the others reserve what it cost.
  expect(calls).toBe(3);
  expect(await tenant.today()).toMatchObject({ spent: { microUsd: 300_000 }, holds: [] });
});

test('calls that cost nothing run together once the first has ended', async () => {
  let [underWay, most] = [0, 0];
  const tenant = new Tenant({ perTenantAndDay: { usd: 1 } }, (step) => ({
    all: step.map(
      'call',
      { over: () => Array.from({ length: 50 }, (_, i) => i), concurrency: 50 },
      async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await Promise.resolve();
        underWay -= 1;
      },
    ),
  }));
  await tenant.start(1);
  await tenant.run();
  expect(tenant.statuses()).toEqual({ completed: 1 });
  expect(most).toBeGreaterThan(10);
});

describe('a run that waits for the budget of its day', () => {
  test('continues by itself when the next day begins, with the budget of that day', async () => {
    const { tenant, spent } = await reached(3);
    const midnight = Date.parse('2026-01-02');
    await tenant.world.run(() => tenant.world.clock.now() >= midnight + HOUR || spent.usd > 0.15);
    await tenant.run();
    expect(tenant.world.clock.now()).toBeGreaterThanOrEqual(midnight);
    expect(spent.usd).toBeCloseTo(0.2);
    expect(await tenant.today()).toMatchObject({ day: '2026-01-02', spent: { microUsd: 100_000 } });
    expect(tenant.statuses()).toEqual({ completed: 2, awaiting_approval: 1 });
    await tenant.world.run();
    expect(tenant.statuses()).toEqual({ completed: 3 });
  });

  test.each<[string, WorkflowOptions<object>['steps']]>([
    [
      'a flow',
      (step) => ({
        all: step.flow('all', {}, async (flow) => {
          for (let i = 0; i < 3; i += 1)
            await flow.step('ask', ({ usage }) => usage({ usd: 0.1 }), { estimate: { usd: 0.1 } });
        }),
      }),
    ],
    [
      'a map',
      (step) => ({
        all: step.map('all', { over: () => [1, 2, 3], concurrency: 1, estimate: { usd: 0.1 } }, ({ usage }) =>
          usage({ usd: 0.1 }),
        ),
      }),
    ],
  ])('continues by itself in %s whose operation or item asks', async (_kind, steps) => {
    const tenant = new Tenant({ perTenantAndDay: { usd: 0.2 } }, steps);
    await tenant.start(1);
    await tenant.run();
    expect(tenant.statuses()).toEqual({ awaiting_approval: 1 });
    await tenant.world.run();
    expect(tenant.statuses()).toEqual({ completed: 1 });
    expect(tenant.world.clock.now()).toBeLessThan(Date.parse('2026-01-02') + HOUR);
  });

  test('continues when a person raises the day, and the raise is kept with its author', async () => {
    const { tenant, asking } = await reached();
    const [runId = ''] = asking;
    await tenant.decide(runId, 'approve', { raise: { usd: 5 } });
    await tenant.decide(runId, 'approve', { raise: { usd: 5 } });
    await tenant.run();
    expect(tenant.statuses()).toEqual({ completed: 2 });
    expect(await tenant.today()).toMatchObject({
      raised: { microUsd: 5_000_000 },
      raises: [{ by: 'c.ada', amounts: { microUsd: 5_000_000 } }],
    });
  });

  test("is raised by the installation's default without an amount, and only once for runs that asked before", async () => {
    const { tenant, asking } = await reached(3);
    for (const runId of asking) await tenant.decide(runId, 'approve');
    expect(await tenant.today()).toMatchObject({ raised: { microUsd: 100_000 } });
    await tenant.run();
    // One raise pays for one of the two; the other asks again.
    expect(tenant.statuses()).toEqual({ completed: 2, awaiting_approval: 1 });
  });

  test('refuses a raise without permission or of an unknown limit, and stays open', async () => {
    const { tenant, asking } = await reached();
    const [runId = ''] = asking;
    await expect(tenant.decide(runId, 'approve', { mayRaiseDay: false })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    for (const raise of [{ tokens: 1 }, { wallClock: '1h' }])
      await expect(tenant.decide(runId, 'approve', { raise })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        field: expect.stringMatching(/^raise/),
      });
    expect(await tenant.today()).toMatchObject({ raised: {} });
    expect(tenant.asking()).toEqual(asking);
  });

  test('an invalid limit is refused by name when the installation is made', () => {
    const made = (budgets: unknown) => () => new Tenant(budgets as BudgetOptions, calling({ usd: 0 }));
    expect(made({ perTenantAndDay: { wallClock: '1h' } })).toThrow(
      "'budgets.perTenantAndDay.wallClock' limits a run",
    );
    expect(made({ perTenantAndDay: {} })).toThrow("'budgets.perTenantAndDay' must limit at least one of");
    expect(made({ tenants: { acme: { usd: -1 } } })).toThrow("'budgets.tenants.acme.usd' must be a number");
    expect(made({ perTenant: { usd: 1 } })).toThrow("unknown option 'perTenant'");
  });

  test('fails its step when a person who may decide rejects it', async () => {
    const { tenant, asking } = await reached();
    const [runId = ''] = asking;
    await tenant.decide(runId, 'reject', { mayRaiseDay: false });
    await tenant.run();
    expect(tenant.world.stateOf(runId)).toMatchObject({
      status: 'failed',
      error: { code: 'BUDGET_REACHED' },
    });
  });
});

describe('the cost of a daily budget', () => {
  const store = (tenant: Tenant) => {
    const calls: string[] = [];
    const dayBudgets = intercept(tenant.world.dayBudgets, ({ method }, proceed) => {
      calls.push(method);
      return proceed();
    });
    return { calls, deps: { ...tenant.world.deps, dayBudgets } };
  };

  test('is one read and two writes for a dispatch that spends, and one more read for the first of a day', async () => {
    const tenant = new Tenant({ perTenantAndDay: { usd: 10 } }, calling({ usd: 0 }, { usd: 0.1 }));
    const { calls, deps } = store(tenant);
    await tenant.start(1);
    await tenant.run(deps);
    expect(calls).toEqual(['read', 'read', 'write', 'write']);
    await tenant.start(1);
    await tenant.run(deps);
    expect(calls.slice(4)).toEqual(['read', 'write', 'write']);
  });

  test('is one read for a dispatch that spends nothing, and nothing without a limit', async () => {
    const steps: WorkflowOptions<object>['steps'] = (step) => ({ plain: step('plain', async () => 1) });
    const limited = new Tenant({ perTenantAndDay: { usd: 10 } }, steps);
    await limited.world.dayBudgets.write(
      {
        tenantId: 't1',
        day: '2026-01-01',
        limits: {},
        raised: {},
        raises: [],
        spent: {},
        holds: [],
        largest: {},
      },
      undefined,
    );
    const one = store(limited);
    await limited.start(1);
    await limited.run(one.deps);
    expect(one.calls).toEqual(['read']);
    const unlimited = new Tenant({ tenants: { other: { usd: 1 } } }, steps);
    const none = store(unlimited);
    await unlimited.start(1);
    await unlimited.run(none.deps);
    expect(none.calls).toEqual([]);
  });

  test('grows with the logarithm of the calls, for a hundred calls in turn', async () => {
    const tenant = new Tenant({ perTenantAndDay: { usd: 1_000 } }, (step) => ({
      all: step.map(
        'call',
        { over: () => Array.from({ length: 100 }, (_, i) => i), concurrency: 1, estimate: { usd: 0.1 } },
        async ({ usage }) => usage({ usd: 0.1 }),
      ),
    }));
    const { calls, deps } = store(tenant);
    await tenant.start(1);
    await tenant.run(deps);
    expect(tenant.statuses()).toEqual({ completed: 1 });
    expect(calls.filter((method) => method === 'write').length).toBeLessThanOrEqual(12);
    expect(await tenant.today()).toMatchObject({ spent: { microUsd: 10_000_000 }, holds: [] });
  });
});

test('a worker that dies during a call leaves its reservation spent, and its run continues', async () => {
  const spent = { usd: 0 };
  const tenant = new Tenant({ perTenantAndDay: { usd: 1 } }, calling(spent, { usd: 0.3 }));
  await tenant.start(1);
  const { random } = tenant.world.deps;
  const deadAt = tenant.world.clock.now() + HOUR;
  // The hold of a dispatch that died after it had taken it.
  await tenant.world.dayBudgets.write(
    {
      tenantId: 't1',
      day: '2026-01-01',
      limits: { microUsd: 1_000_000 },
      raised: {},
      raises: [],
      spent: {},
      holds: [{ owner: random.token(), granted: { microUsd: 900_000 }, expiresAt: deadAt }],
      largest: {},
    },
    undefined,
  );
  await tenant.run();
  // It waited for the other dispatch as long as that could have lived, and asks then: nobody knows what it spent.
  expect(tenant.world.clock.now()).toBeGreaterThanOrEqual(deadAt);
  expect(spent.usd).toBe(0);
  expect(tenant.statuses()).toEqual({ awaiting_approval: 1 });
  expect(usedOf((await tenant.today()) ?? { spent: {}, holds: [] })).toEqual({ microUsd: 900_000 });
});
