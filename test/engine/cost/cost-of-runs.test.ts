import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { FullCost } from '../../../packages/cairn/src/core/cost/cost.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { intercept, never } from '../../support/intercept.ts';
import { type Bill, type BilledWorld, BilledWorlds } from './billed-world.ts';

const input = z.object({});
const STEPS = 10;

const chain = defineWorkflow({
  type: 'chain',
  planVersion: 1,
  input,
  steps(step) {
    let before: Record<string, unknown> = {};
    for (let n = 1; n <= STEPS; n += 1) {
      const needs = before as Record<string, never>;
      before = { before: step(`step-${n}`, { needs }, async () => ({ n })) };
    }
    return {};
  },
});

const large = defineWorkflow({
  type: 'large',
  planVersion: 1,
  input: z.object({ text: z.string() }),
  steps(step) {
    const made = step('make', async ({ input: { text }, memo }) => {
      await memo('once', async () => 'remembered');
      return { text: `${text}${text}` };
    });
    return { size: step('size', { needs: { made } }, async ({ made: { text } }) => text.length) };
  },
});

const LINES = 50;

const logs = defineWorkflow({
  type: 'logs',
  planVersion: 1,
  input,
  steps: (step) => ({
    said: step('say', ({ log }) => {
      for (let n = 0; n < LINES; n += 1) log(`line ${n}`);
    }),
  }),
});

const streams = defineWorkflow({
  type: 'streams',
  planVersion: 1,
  input,
  steps: (step) => ({
    said: step('say', ({ stream }) => {
      for (let n = 0; n < 1_000; n += 1) stream('a few words of text ');
    }),
  }),
});

const mute = defineWorkflow({
  type: 'mute',
  planVersion: 1,
  input,
  steps: (step) => ({ said: step('say', () => undefined) }),
});

const asks = defineWorkflow({
  type: 'asks',
  planVersion: 1,
  input,
  steps: (step) => ({ gate: step.approval('gate', { timeout: '1h', ask: () => 'may it?' }) }),
});

const parent = defineWorkflow({
  type: 'parent',
  planVersion: 1,
  input,
  steps: (step) => ({ child: step.child('child', { workflow: 'chain', input: () => ({}) }) }),
});

const worlds = new BilledWorlds();
afterAll(() => worlds.close());

const make = () => worlds.make({ workflows: [chain, large, logs, streams, mute, asks, parent] });

async function ended(billed: BilledWorld, type: string, given: unknown = {}): Promise<string> {
  const runId = await billed.start(type, given);
  await billed.run(() => billed.isOver(runId));
  return runId;
}

function documents({ reads, writes, deletes }: FullCost): Bill {
  return { reads, writes, deletes };
}

describe('the cost that a run reports is what was billed', () => {
  test('includes every read, write and task of ten steps', async () => {
    const billed = await make();
    const runId = await ended(billed, 'chain');
    const cost = await billed.costOf(runId);
    expect(documents(cost)).toEqual(billed.billed());
    expect(cost.tasks).toBe(billed.delivered);
    expect(cost.writes).toBeGreaterThanOrEqual(3 * STEPS);
  });

  test('includes the record of the last published event', async () => {
    const billed = await worlds.make({ workflows: [chain], bus: { publish: async () => {} } });
    const runId = await ended(billed, 'chain');
    expect(documents(await billed.costOf(runId))).toEqual(billed.billed());
  });

  test('includes the chunks of large values and memos, and no read for an earlier start', async () => {
    const billed = await make();
    const runId = await ended(billed, 'large', { text: 'x'.repeat(700_000) });
    const { reads, ...rest } = billed.billed();
    expect(documents(await billed.costOf(runId))).toEqual({ reads: reads - 1, ...rest });
  });

  test.each([
    ['logs', 'lines'],
    ['streams', 'chunks of text'],
  ])(
    'of a run whose step %s includes one write for all its %s, and nothing if there are none',
    async (type) => {
      const silent = await make();
      await ended(silent, 'mute');
      const { reads, writes, deletes } = silent.billed();
      const telling = await make();
      const runId = await ended(telling, type);
      const bill = telling.billed();
      expect(bill).toEqual({ reads, writes: writes + 1, deletes });
      expect(documents(await telling.costOf(runId))).toEqual(bill);
    },
  );

  test('includes the answer of a person', async () => {
    const billed = await make();
    const runId = await billed.start('asks');
    await billed.run(async () => billed.world.queue.due(billed.world.clock.now()).length === 0);
    const costBefore = await billed.costOf(runId);
    expect(documents(costBefore)).toEqual(billed.billed());
    await decideApproval(billed.deps, {
      runId,
      tenantId: 't1',
      stepId: 'gate',
      decision: 'approve',
      actor: 'c.1',
    });
    await billed.run(() => billed.isOver(runId));
    const cost = await billed.costOf(runId);
    expect(documents(cost)).toEqual(billed.billed());
    for (const what of ['reads', 'writes', 'tasks'] as const)
      expect(cost[what]).toBeGreaterThan(costBefore[what]);
  });
});

describe('the cost that runs report', () => {
  test('is not more than was billed, for parent and child together', async () => {
    const billed = await make();
    const runId = await billed.start('parent');
    await billed.run(() => billed.isOver(runId));
    const [wait] = (await billed.deps.store.readEvents(runId, 0, 100)).flatMap((event) =>
      event.type === 'wait_opened' && event.data.wait.child ? [event.data.wait.child.runId] : [],
    );
    const [own, child] = [await billed.costOf(runId), await billed.costOf(wait ?? '')];
    const all = billed.billed();
    expect(own.writes + child.writes).toBe(all.writes);
    expect(own.reads + child.reads).toBeLessThanOrEqual(all.reads);
  });

  /** The commits of the claim, of steps, and of the last step with the end of the run. */
  const COMMITS = [1, 2, 3, 6, STEPS + 1];

  test.each(COMMITS)(
    'is at least half of what was billed, where the worker died at commit %i',
    async (nth) => {
      const billed = await make();
      const runId = await billed.start('chain');
      let commits = 0;
      const store = intercept(billed.deps.store, ({ method }, proceed) => {
        if (method !== 'commit') return proceed();
        commits += 1;
        return commits === nth ? never() : proceed();
      });
      const dying: EngineDeps = { ...billed.deps, store };
      billed.world.queue.take();
      billed.delivered += 1;
      let isOver = false;
      void drive(dying, { runId }).then(() => {
        isOver = true;
      });
      while (commits < nth && !isOver) await new Promise<void>((resolve) => setImmediate(resolve));
      expect(isOver).toBe(false);
      await billed.scanAfter(10 * 60_000);
      await billed.run(() => billed.isOver(runId));
      const cost = await billed.costOf(runId);
      const all = billed.billed();
      expect(cost.writes).toBeLessThanOrEqual(all.writes);
      expect(cost.reads).toBeLessThanOrEqual(all.reads);
      expect(cost.writes).toBeGreaterThanOrEqual(all.writes / 2);
      expect(cost.reads).toBeGreaterThanOrEqual(all.reads / 2);
      expect(cost.tasks).toBeLessThanOrEqual(billed.delivered);
      // The journal shows the writes of a dead worker.
      if (nth > 1) expect(cost.writes).toBe(all.writes);
    },
  );
});
