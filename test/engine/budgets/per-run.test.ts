import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { metered, writesOf } from '../../support/metered-store.ts';
import { mortal } from '../../support/mortal.ts';
import { Outside } from '../../support/outside.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import { budgeted, Spender } from './budgeted.ts';

const FIFTY = Array.from({ length: 50 }, (_, i) => i);

describe('fifty calls at once', () => {
  test('with an estimate never exceed the budget: the run asks before the call that does not fit', async () => {
    let spent = 0;
    const run = await Spender.start({ usd: 1 }, (step) => ({
      all: step.map(
        'call',
        { over: () => FIFTY, concurrency: 50, estimate: { usd: 0.1 } },
        async ({ usage }) => {
          spent += 0.1;
          usage({ usd: 0.1 });
        },
      ),
    }));
    await run.run();
    expect(run.state()).toMatchObject({
      status: 'awaiting_approval',
      budget: { spent: { microUsd: 1_000_000, operations: 10 }, reserved: [] },
      waits: [{ kind: 'approval', purpose: 'budget' }],
    });
    expect(spent).toBeCloseTo(1);
    expect(run.question().question).toMatch(
      /1\.00 USD of 1\.00 USD spent\. .*needs up to 0\.10 USD\. Raise the budget, fail the step or cancel the run\?$/,
    );
    await run.decide('approve', { raise: { usd: 10 } });
    await run.run();
    expect(run.state()).toMatchObject({ status: 'completed', budget: { spent: { microUsd: 5_000_000 } } });
  });

  test('without an estimate exceed it by one call at most', async () => {
    let calls = 0;
    const run = await Spender.start({ tokens: 1_000 }, (step) => ({
      all: step.map('call', { over: () => FIFTY, concurrency: 50 }, async ({ usage }) => {
        calls += 1;
        usage({ tokens: { input: 100, output: 60 } });
      }),
    }));
    await run.run();
    // Six fit, and the seventh is the one that overruns.
    expect(calls).toBe(7);
    expect(run.state()).toMatchObject({ status: 'awaiting_approval', budget: { spent: { tokens: 1_120 } } });
  });

  test('make as many calls with side effects as are left', async () => {
    const outside = new Outside();
    const { capability } = outside;
    const run = await Spender.start(
      { effects: 7 },
      (step) => ({
        all: step.map(
          'send',
          { over: () => FIFTY, concurrency: 50, uses: [capability] },
          async ({ perform, item }) => perform(capability, { text: `${item}` }),
        ),
      }),
      { bindings: [outside.binding] },
    );
    await run.run();
    expect(outside.applied.length).toBe(7);
    expect(run.state()).toMatchObject({ status: 'awaiting_approval', budget: { spent: { effects: 7 } } });
    expect(run.state().waits.length).toBe(1);
    await run.decide('approve', { raise: { effects: 43 } });
    await run.run();
    expect(run.state().status).toBe('completed');
    expect(outside.applied.length).toBe(50);
  });
});

describe('a run that has reached its budget', () => {
  const turns = (calls: number[] = []) =>
    ((step) => ({
      out: step.flow('agent', {}, async (flow) => {
        for (let i = 0; i < 6; i += 1) {
          await flow.step('think', ({ usage }) => {
            calls.push(i);
            usage({ tokens: { input: 10 } });
          });
        }
        return calls.length;
      }),
    })) satisfies Parameters<typeof budgeted>[1];

  test("asks in the inbox; an approval without an amount raises it by the workflow's default", async () => {
    const calls: number[] = [];
    const run = await Spender.start({ operations: 2 }, turns(calls));
    await run.run();
    expect(calls).toEqual([0, 1]);
    expect(run.question().budget.reached).toEqual(['operations']);
    expect(run.state().waits).toMatchObject([{ execution: { stepId: 'agent', itemKey: 'think.3' } }]);
    await run.decide('approve');
    await run.run();
    expect(calls).toEqual([0, 1, 2, 3]);
    await run.decide('approve', { note: 'the customer pays', raise: { operations: 10 } });
    await run.run();
    expect(run.state()).toMatchObject({
      status: 'completed',
      budget: {
        limits: { operations: 14 },
        declared: { operations: 2 },
        spent: { operations: 6, tokens: 60 },
      },
    });
    const answers = run.world.db.runs.get(run.runId)?.events.filter(({ type }) => type === 'wait_resolved');
    expect(answers).toMatchObject([
      { actor: 'c.ada', data: { decision: 'approve', raise: { operations: 2 } } },
      { actor: 'c.ada', data: { decision: 'approve', raise: { operations: 10 } } },
    ]);
  });

  test('is cancelled or fails as the answer says, and asking takes no attempt of the step', async () => {
    const halted = await Spender.start({ operations: 2 }, turns());
    await halted.run();
    await halted.decide('halt', { note: 'too dear' });
    await halted.run();
    expect(halted.state()).toMatchObject({ status: 'cancelled', stopKind: 'halt' });

    const rejected = await Spender.start({ operations: 2 }, turns());
    await rejected.run();
    await rejected.decide('reject');
    await rejected.run();
    expect(rejected.state()).toMatchObject({ status: 'failed', error: { code: 'BUDGET_REACHED' } });

    let attempts = 0;
    const retried = await Spender.start({ operations: 1 }, (step) => {
      const first = step('first', () => 1);
      return {
        second: step('second', { needs: { first }, retry: { maxAttempts: 2, initialMs: 10 } }, () => {
          attempts += 1;
          if (attempts === 1) throw new Error('not yet');
          return 2;
        }),
      };
    });
    await retried.run();
    await retried.decide('approve', { raise: { operations: 10 } });
    await retried.run();
    expect(retried.state().status).toBe('completed');
  });

  test('asks when there is room for another wait, and waiting for room takes no attempt', async () => {
    let attempts = 0;
    const run = await Spender.start({ operations: 1 }, (step) => {
      const first = step('first', () => 1);
      const second = step('second', { needs: { first }, retry: { maxAttempts: 2, initialMs: 10 } }, () => {
        attempts += 1;
        if (attempts === 1) throw new Error('not yet');
        return 2;
      });
      // They leave less room than a question takes.
      const fillers = Array.from({ length: 32 }, (_, i) => [
        `filler-${i}`,
        step.approval(`filler-${i}`, { ask: () => 'x'.repeat(15_955) }),
      ]);
      return { second, ...Object.fromEntries(fillers) };
    });
    const second = () => run.world.stateOf(run.runId).steps.get('second');
    await run.world.run(() => second() !== undefined);
    expect(second()).toMatchObject({ phase: 'retrying', whenRoom: true });
    for (const { execution } of run.state().waits.slice(0, 3))
      await run.decide('approve', { stepId: execution.stepId });
    await run.world.run(() => second()?.phase === 'waiting');
    await run.decide('approve', { stepId: 'second', raise: { operations: 10 } });
    await run.world.run(() => second()?.phase === 'done');
    expect(attempts).toBe(2);
  });

  test('refuses any other answer, and a raise of a limit that it does not have', async () => {
    const run = await Spender.start({ operations: 2 }, turns());
    await run.run();
    const before = run.state();
    await expect(run.decide('approve_with_waiver', { note: 'x' })).rejects.toMatchObject({
      field: 'decision',
    });
    await expect(run.decide('approve', { raise: { usd: 1 } })).rejects.toMatchObject({ field: 'raise.usd' });
    await expect(run.decide('approve', { raise: { operations: -1 } })).rejects.toMatchObject({
      field: 'raise.operations',
    });
    await expect(run.decide('reject', { raise: { operations: 1 } })).rejects.toMatchObject({
      field: 'raise',
    });
    expect(run.state()).toEqual(before);
  });

  test('repeats its answer to a repeated request, and does not raise twice', async () => {
    const run = await Spender.start({ operations: 2 }, turns());
    await run.run();
    const stepId = 'agent[think.3]';
    const { waitId } = await run.decide('approve');
    await expect(run.decide('approve', { stepId, waitId })).resolves.toMatchObject({ waitId });
    await run.run();
    expect(run.state()).toMatchObject({ status: 'awaiting_approval', budget: { limits: { operations: 4 } } });
  });

  test('of its time asks before the next step, and the time of the question does not count', async () => {
    const run = await Spender.start({ wallClock: '1h' }, (step) => {
      const rest = step.sleep('rest', { for: '90m' });
      const work = step('work', { needs: { rest } }, () => 1);
      const again = step.sleep('again', { needs: { work }, for: '20m' });
      return { out: step('out', { needs: { again } }, () => 2) };
    });
    await run.run();
    expect(run.question().budget.reached).toEqual(['wallClockMs']);
    run.world.clock.jump(7 * 24 * 3_600_000);
    await run.decide('approve', { raise: { wallClock: '1h' } });
    await run.run();
    expect(run.state().status).toBe('completed');
  });

  test('continues with steps that are declared to cost nothing', async () => {
    const run = await Spender.start({ usd: 1 }, (step) => {
      const think = step('think', { estimate: { usd: 1 } }, ({ usage }) => usage({ usd: 1 }));
      return { kept: step('keep', { needs: { think }, estimate: { usd: 0 } }, () => 1) };
    });
    await run.run();
    expect(run.state().status).toBe('completed');
  });

  test('does not interrupt a body that must not run twice between two calls, but asks before it begins', async () => {
    const outside = new Outside();
    const { capability } = outside;
    const send = (step: Parameters<Parameters<typeof budgeted>[1]>[0], id: string, needs = {}) =>
      step(id, { needs, uses: [capability], idempotent: false }, async ({ perform }) => {
        await perform(capability, { text: `${id} 1` });
        await perform(capability, { text: `${id} 2` });
      });
    const run = await Spender.start(
      { effects: 1 },
      (step) => {
        const first = send(step, 'first');
        return { second: send(step, 'second', { first }) };
      },
      { bindings: [outside.binding] },
    );
    await run.run();
    expect(outside.applied.length).toBe(2);
    expect(run.state().waits).toMatchObject([{ purpose: 'budget', execution: { stepId: 'second' } }]);
    await run.decide('approve', { raise: { effects: 2 } });
    await run.run();
    expect(run.state().status).toBe('completed');
    expect(outside.applied.length).toBe(4);
  });
});

describe('a loop', () => {
  test('stops before the turn whose estimate does not fit, and continues with its state when the limit is raised', async () => {
    const run = await Spender.start({ usd: 1 }, (step) => ({
      out: step.loop('think', {
        state: () => 0,
        while: ({ state }) => state < 5,
        max: 5,
        estimate: { usd: 0.4 },
        body: ({ state, usage }) => {
          usage({ usd: 0.4 });
          return state + 1;
        },
      }),
    }));
    await run.run();
    expect(run.state()).toMatchObject({
      status: 'awaiting_approval',
      budget: { spent: { microUsd: 800_000 }, reserved: [] },
      waits: [{ purpose: 'budget', execution: { stepId: 'think', itemKey: 'turn.3' } }],
    });
    await run.decide('approve', { raise: { usd: 1 } });
    await run.run();
    expect(run.state()).toMatchObject({ status: 'completed', budget: { spent: { microUsd: 2_000_000 } } });
  });
});

describe('a worker that dies', () => {
  test('leaves the reservations of its attempts spent', async () => {
    let hangs = true;
    const run = await Spender.start({ usd: 1 }, (step) => ({
      out: step('think', { estimate: { usd: 0.4 } }, ({ usage }) => {
        if (hangs) return new Promise<void>(() => {});
        return usage({ usd: 0.1 });
      }),
    }));
    const first = mortal(run.world.deps, 1);
    await run.world.run(() => run.world.stateOf(run.runId).budget?.reserved.length === 1, first.deps);
    first.kill();
    await settle();
    hangs = false;
    await run.run();
    expect(run.state()).toMatchObject({
      status: 'completed',
      budget: { spent: { microUsd: 500_000, operations: 2 }, reserved: [] },
    });
  });
});

test('a run that was blocked before its plan was deployed has the limits of its workflow when it begins', async () => {
  const workflow = defineWorkflow({
    type: 'w',
    planVersion: 1,
    input: z.object({}),
    budget: { operations: 1 },
    timeout: '30d',
    steps: (step) => {
      const first = step('first', () => 1);
      return { second: step('second', { needs: { first } }, () => 2) };
    },
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('w');
  const without = { ...world.deps, registry: new World({ workflows: [] }).deps.registry };
  await world.run(() => world.stateOf(runId).status === 'waiting_external', without);
  await world.run(() => ['awaiting_approval', 'completed'].includes(world.stateOf(runId).status));
  const { status, budget, deadlineAt } = world.stateOf(runId);
  expect([status, budget?.limits]).toEqual(['awaiting_approval', { operations: 1 }]);
  expect(deadlineAt).toBeGreaterThan(world.clock.now());
});

describe('the cost of a budget', () => {
  test('is nothing for a plain step: three writes and no read, with and without a budget', async () => {
    const LENGTH = 40;
    const costs = await Promise.all(
      [undefined, { usd: 1, operations: 1_000, wallClock: '1h' }].map(async (budget) => {
        const workflow = budgeted(budget ?? { operations: 1_000 }, (step) => ({
          out: step.flow('main', {}, async (flow) => {
            for (let i = 0; i < LENGTH; i += 1) await flow.step('turn', () => i);
          }),
        }));
        const { budget: _, ...without } = workflow;
        const world = new World({ workflows: [budget ? workflow : without] });
        const { deps, commits, reads } = metered(world);
        const runId = await world.start('w');
        await world.run(undefined, deps);
        expect(world.stateOf(runId)).toMatchObject({ status: 'completed' });
        expect(world.stateOf(runId).budget === undefined).toBe(budget === undefined);
        const turns = commits.filter(({ steps }) => steps.some(({ id }) => /^main\[turn/.test(id)));
        return { writes: turns.map(writesOf), reads: reads().length };
      }),
    );
    const [without, withBudget] = costs;
    expect(withBudget).toEqual(without);
    expect(new Set(withBudget?.writes)).toEqual(new Set([3]));
  });
});
