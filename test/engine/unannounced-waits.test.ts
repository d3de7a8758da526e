import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { decideApproval } from '../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { deliverEvent } from '../../packages/cairn/src/operations/events/deliver-event.ts';
import { intercept, never } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

const inner = defineWorkflow({
  type: 'inner',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ one: step('one', () => 1) }),
});

const waiting = defineWorkflow({
  type: 'waiting',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const gate = step.approval('gate', { ask: () => 'may it end?' });
    const news = step.event('news', { event: 'news', key: () => 'k', timeout: '1h' });
    const child = step.child('child', { workflow: inner, input: () => ({}) });
    return { gate, news, child };
  },
});

/** A run whose drive died after all its waits were in the journal, and before any was announced. */
async function orphaned() {
  const world = new World({ workflows: [waiting, inner] });
  const runId = await world.start('waiting');
  for (let task = world.queue.take(); task; task = world.queue.take());
  const dead = {
    ...world.deps,
    mailboxes: intercept(world.deps.mailboxes, never),
    otherRuns: { ...world.deps.otherRuns, startChild: never },
    clock: { now: () => world.clock.now(), timer: () => () => {} },
  };
  void drive(dead, { runId });
  await settle();
  expect((await world.folded(runId)).waits.map(({ kind }) => kind).sort()).toEqual([
    'approval',
    'child',
    'event',
  ]);
  return { world, runId };
}

describe('a run whose drive died before it announced its waits', () => {
  test('announces them although it also waits for a person, and accepts their answers', async () => {
    const { world, runId } = await orphaned();
    const event = { tenantId: 't1', event: 'news', key: 'k', data: 'good', eventId: 'e1' };
    expect(await deliverEvent(world.deps, event)).toMatchObject({ kept: true });
    await world.run(() => (world.db.runs.get(runId)?.snapshot.waits.length ?? 0) === 1);
    const state = assertStored(world.db, runId);
    expect(state.waits).toMatchObject([{ kind: 'approval' }]);
    expect(world.clock.now() - state.createdAt).toBeLessThan(3 * 60_000);
    await decideApproval(world.deps, {
      runId,
      tenantId: 't1',
      stepId: 'gate',
      decision: 'approve',
      actor: 'u1',
    });
    await world.run();
    const { status, result } = await world.folded(runId);
    expect(status).toBe('completed');
    expect(result).toMatchObject({ text: expect.stringContaining('"child":{"one":1}') });
    expect(result).toMatchObject({ text: expect.stringContaining('"news":"good"') });
  });

  test('is found by the scan if the task for the announcement is lost', async () => {
    const { world, runId } = await orphaned();
    world.clock.jump(10_000);
    const lost = { ...world.deps, queue: { enqueue: async () => {} } };
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval', lost);
    expect(assertStored(world.db, runId).waits.some(({ announced }) => announced)).toBe(false);
    await world.run(() => world.db.runs.get(runId)?.snapshot.waits.length === 2);
    expect(assertStored(world.db, runId).waits.every(({ announced }) => announced)).toBe(true);
  });
});
