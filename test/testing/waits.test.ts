import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import {
  createTestRuntime,
  expectJournal,
  type TestRun,
  type TestRuntime,
} from '../../packages/cairn/src/testing/index.ts';
import { gated, nap, parent } from './fixtures.ts';

const DAY = 86_400_000;

async function atTheGate(input: object = {}): Promise<{ runtime: TestRuntime; run: TestRun }> {
  const runtime = createTestRuntime({ workflows: [gated] });
  const run = await runtime.start('gated', input);
  await runtime.settle();
  return { runtime, run };
}

async function waitingForMoney(input: object = {}) {
  const { runtime, run } = await atTheGate(input);
  await runtime.decide(run, 'approve', { by: 'u.ada', note: 'fine' });
  await runtime.settle();
  return { runtime, run };
}

describe('a run that waits for a person', () => {
  test('shows its question', async () => {
    const { runtime, run } = await atTheGate();
    expect(run.status()).toBe('awaiting_approval');
    expect(run.waits()).toEqual([
      {
        step: 'gate',
        kind: 'approval',
        question: 'Order o-1?',
        details: { revision: 1 },
        until: new Date(runtime.now() + DAY),
      },
    ]);
  });

  test('cannot be run to its end: the error names the decision it needs', async () => {
    const { runtime, run } = await atTheGate();
    await expect(runtime.runToEnd(run)).rejects.toThrow(
      /'gated' waits for a decision on 'gate' \(until 2026-01-02T00:00:00\.000Z\)\n\n.*run_created/s,
    );
    expect(run.status()).toBe('awaiting_approval');
  });

  test('is run until only the question is left, and not to the deadline of the run', async () => {
    const ran: string[] = [];
    const workflow = defineWorkflow({
      type: 'patient',
      planVersion: 1,
      input: z.object({}),
      timeout: '30d',
      steps(step) {
        const gate = step.approval('gate', { ask: () => 'Well?' });
        const pause = step.sleep('pause', { for: '2d' });
        const beside = step('beside', { needs: { pause }, retry: { initialMs: 600_000 } }, ({ attempt }) => {
          ran.push(`beside ${attempt}`);
          if (attempt === 1) throw new Error('later');
          return attempt;
        });
        return { gate, beside };
      },
    });
    const runtime = createTestRuntime({ workflows: [workflow] });
    const run = await runtime.start('patient');
    await expect(runtime.runToEnd(run)).rejects.toThrow("waits for a decision on 'gate'\n");
    expect(ran).toEqual(['beside 1', 'beside 2']);
    await runtime.advance('30d');
    expectJournal(run.journal()).toEndAs('failed', 'RUN_TIMEOUT');
  });

  test('continues with the decision, and records its author', async () => {
    const { run } = await waitingForMoney();
    expect(await run.output('gate')).toEqual({ decision: 'approve', note: 'fine', by: 'u.ada' });
    expectJournal(run.journal()).toHaveDecided('gate', 'approve').toHaveRun('book', 1);
  });

  test('fails if it is rejected, or nobody decides in time', async () => {
    const rejected = await atTheGate();
    await rejected.runtime.decide(rejected.run, 'reject');
    expect(await rejected.runtime.runToEnd(rejected.run)).toBe('failed');
    expectJournal(rejected.run.journal()).toEndAs('failed', 'APPROVAL_REJECTED').notToHaveRun('book');

    const late = await atTheGate();
    await late.runtime.advance('24h');
    expect(late.run.status()).toBe('failed');
    expectJournal(late.run.journal()).toEndAs('failed', 'APPROVAL_EXPIRED').toHaveFailed('gate');
    await expect(late.runtime.decide(late.run, 'approve', { step: 'gate' })).rejects.toMatchObject({
      code: 'APPROVAL_EXPIRED',
    });
  });

  test('runs steps again with feedback', async () => {
    const { runtime, run } = await atTheGate();
    await runtime.decide(run, 'retry_with_feedback', { feedback: 'shorter' });
    await runtime.settle();
    expect(await run.output('draft')).toEqual({ order: 'o-1', revision: 2, feedback: 'shorter' });
    expect(run.waits()).toMatchObject([{ step: 'gate', details: { revision: 2 } }]);
    expect(run.calls('draft')).toBe(2);
    expectJournal(run.journal()).toHaveRun('draft', 2);
  });

  test.each([
    ['nothing is asked', nap, /there is nothing to decide.*waits for: timer 'pause'/],
    ['the step is none', gated, /no-such-step/],
  ])('refuses a decision where %s', async (_name, workflow, message) => {
    const runtime = createTestRuntime({ workflows: [workflow] });
    const run = await runtime.start(workflow.type);
    await runtime.settle();
    const options = workflow === gated ? { step: 'no-such-step' } : {};
    await expect((async () => runtime.decide(run, 'approve', options))()).rejects.toThrow(message);
  });
});

describe('a run that waits for an event', () => {
  test('cannot be run to its end: the error names the event', async () => {
    const { runtime, run } = await waitingForMoney();
    await expect(runtime.runToEnd(run)).rejects.toThrow(
      /waits for the event 'order\.paid' for 'o-1' in 'paid'/,
    );
  });

  test('continues with the data of the event', async () => {
    const { runtime, run } = await waitingForMoney();
    const sent = await runtime.deliver({ event: 'order.paid', key: 'o-1', data: { amount: 7 } });
    expect(sent).toMatchObject({ delivered: [run.id], kept: false });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ ship: { order: 'o-1', revision: 1, amount: 7 } });
  });

  test('receives an event sent before it waited, and none of another key', async () => {
    const { runtime, run } = await atTheGate();
    const sent = await runtime.deliver({ event: 'order.paid', key: 'o-1', data: { amount: 8 } });
    expect(sent).toMatchObject({ delivered: [], kept: true });
    await runtime.deliver({ event: 'order.paid', key: 'o-2', data: { amount: 9 } });
    await runtime.decide(run, 'approve');
    await runtime.runToEnd(run);
    expect(await run.result()).toMatchObject({ ship: { amount: 8 } });
  });

  test('receives an event once, however often it is sent', async () => {
    const { runtime, run } = await waitingForMoney();
    const event = { event: 'order.paid', key: 'o-1', data: { amount: 7 }, eventId: 'e-1' };
    await runtime.deliver(event);
    expect(await runtime.deliver({ ...event, data: { amount: 100 } })).toMatchObject({ repeated: true });
    await runtime.runToEnd(run);
    expect(await run.result()).toMatchObject({ ship: { amount: 7 } });
  });

  test('can be sent a signal', async () => {
    const { runtime, run } = await waitingForMoney();
    await runtime.signal(run, { event: 'order.paid', data: { amount: 1 } });
    expect(await runtime.runToEnd(run)).toBe('completed');
  });

  test('undoes its steps, the newest first, if the event does not come', async () => {
    const { runtime, run } = await waitingForMoney();
    await runtime.advance('7d');
    expect(run.status()).toBe('failed');
    expectJournal(run.journal()).toHaveFailed('paid').toHaveCompensated('book', 'draft');
    expect(run.compensations().map(({ stepId, outcome }) => `${stepId} ${outcome}`)).toEqual([
      'book compensated',
      'draft compensated',
    ]);
    expect(run.calls('book', 'compensate')).toBe(1);
  });

  test.each(['before', 'after'] as const)(
    'undoes its steps even if the process dies %s a compensation',
    async (moment) => {
      const { runtime, run } = await waitingForMoney({ fails: true });
      if (moment === 'before') runtime.crashBefore('book', 'compensate');
      else runtime.crashAfter('book', 'compensate');
      await runtime.deliver({ event: 'order.paid', key: 'o-1', data: { amount: 1 } });
      expect(await runtime.runToEnd(run)).toBe('failed');
      expectJournal(run.journal()).toHaveCompensated('book', 'draft').toEndAs('failed', 'STEP_FAILED');
      expect(run.calls('book', 'compensate')).toBe(moment === 'before' ? 1 : 2);
      expect(run.calls('draft', 'compensate')).toBe(1);
    },
  );

  test('undoes its steps if it is cancelled', async () => {
    const { runtime, run } = await waitingForMoney();
    await runtime.cancel(run);
    expect(await runtime.runToEnd(run)).toBe('cancelled');
    expectJournal(run.journal()).toHaveCompensated('book', 'draft').toEndAs('cancelled');
  });
});

describe('a run with items and a child', () => {
  test('shows the steps of both', async () => {
    const runtime = createTestRuntime({ workflows: [parent, gated] });
    const run = await runtime.start('parent', { items: [1, -2, 3] });
    runtime.crashAfter('square[2]');
    await expect(runtime.runToEnd(run)).rejects.toThrow(
      /a decision on 'gate' .*of the child run_\w+ in 'child'/,
    );
    expect(await run.output('square')).toEqual([1, null, 9]);
    expect(run.calls('square[2]')).toBe(2);
    expectJournal(run.journal()).toHaveFailed('square[1]', 'STEP_FAILED').toHaveRun('square[0]', 1);

    const child = runtime.run(run.waits()[0]?.child ?? '');
    await runtime.decide(child, 'approve');
    await runtime.deliver({ event: 'order.paid', key: 'c-1', data: { amount: 5 } });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({
      squares: [1, null, 9],
      child: { ship: { order: 'c-1', revision: 1, amount: 5 } },
    });
    expect(runtime.runs().map(({ id }) => id)).toEqual([run.id, child.id]);
  });
});

describe('a run in doubt', () => {
  test.each([
    ['approve', 2, 'completed'],
    ['approve_with_waiver', 1, 'completed'],
    ['reject', 1, 'failed'],
  ] as const)('asks, and with %s its body has been called %i times', async (decision, calls, end) => {
    const workflow = defineWorkflow({
      type: 'doubtful',
      planVersion: 1,
      input: z.object({}),
      onDoubt: 'ask',
      steps: (step) => ({ paid: step('pay', { idempotent: false }, () => 'paid') }),
    });
    const runtime = createTestRuntime({ workflows: [workflow] });
    runtime.crashAfter('pay');
    const run = await runtime.start('doubtful');
    await expect(runtime.runToEnd(run)).rejects.toThrow("waits for a decision on 'pay'");
    expect(run.waits()).toMatchObject([{ step: 'pay', question: expect.stringContaining('may have acted') }]);
    await runtime.decide(run, decision, { note: 'the bank says so' });
    expect(await runtime.runToEnd(run)).toBe(end);
    expect(run.calls('pay')).toBe(calls);
  });
});

test('a run whose child has no workflow here is not run on: the error names the workflow', async () => {
  const lonely = defineWorkflow({
    type: 'lonely',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ one: step.child('one', { workflow: 'nowhere', input: () => ({}) }) }),
  });
  const runtime = createTestRuntime({ workflows: [lonely] });
  const run = await runtime.start('lonely');
  await expect(runtime.runToEnd(run)).rejects.toThrow(
    "'lonely' waits for a deployment: no version of the child's workflow 'nowhere' is deployed\n",
  );
});
