import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { toJsonText } from '../../../packages/cairn/src/core/encoding/json.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept, never } from '../../support/intercept.ts';
import { dieDuring, mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

interface Doubtful {
  readonly world: World;
  readonly runId: string;
  /** Started attempts. */
  readonly log: string[];
  decide(decision: DecideRequest['decision'], more?: Partial<DecideRequest>): Promise<unknown>;
  state(): ReturnType<typeof assertStored>;
}

/** A run whose drive died during a step that must not run twice, and that asks a person about the outcome. */
async function doubtful(kind: 'step' | 'map'): Promise<Doubtful> {
  const log: string[] = [];
  const dying = { now: true };
  const body = (name: string, attempt: number) => {
    log.push(`${name} ${attempt}`);
    return dying.now ? new Promise<number>(() => {}) : 7;
  };
  const workflow = defineWorkflow({
    type: 'push',
    planVersion: 1,
    input: z.unknown(),
    onDoubt: 'ask',
    steps(step) {
      const before = step('before', () => 1);
      const push =
        kind === 'step'
          ? step('push', { needs: { before }, idempotent: false }, ({ attempt }) => body('push', attempt))
          : step.map(
              'push',
              { needs: { before }, idempotent: false, over: () => ['a', 'b'] },
              ({ item, attempt }) => body(item, attempt),
            );
      return { pushed: step('after', { needs: { push } }, ({ push }) => toJsonText(push, 'push')) };
    },
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('push');
  const state = () => assertStored(world.db, runId, Number.POSITIVE_INFINITY);
  world.queue.take();
  await dieDuring(world.deps, { runId });
  expect(log.length).toBeGreaterThan(0);
  dying.now = false;
  await world.run(() => state().status === 'awaiting_approval');
  return {
    world,
    runId,
    log,
    state,
    decide: (decision, more = {}) =>
      decideApproval(world.deps, {
        runId,
        tenantId: 't1',
        stepId: 'push',
        actor: 'c.ada',
        decision,
        ...more,
      }),
  };
}

describe('a step that must not run twice, interrupted by a crash, with a policy to ask', () => {
  test('asks, and nothing runs meanwhile', async () => {
    const { log, state, world } = await doubtful('step');
    expect(state().waits).toMatchObject([
      { kind: 'approval', purpose: 'doubt', execution: { stepId: 'push' } },
    ]);
    expect(JSON.parse(state().waits[0]?.detailText ?? '').question).toMatch(
      /may have acted\. Run it again, treat it as completed or fail it\?$/,
    );
    world.clock.jump(7 * 24 * 3_600_000);
    await world.run(() => world.clock.nextAt === undefined && world.queue.pending.length === 0);
    expect(log).toEqual(['push 1']);
    expect(state().status).toBe('awaiting_approval');
  });

  test('runs again as another attempt if it is approved', async () => {
    const { decide, log, state, world } = await doubtful('step');
    await decide('approve');
    await world.run();
    expect(log).toEqual(['push 1', 'push 2']);
    expect(state()).toMatchObject({ status: 'completed', result: { text: '{"pushed":"7"}' } });
  });

  test('counts as done with null if it is waived', async () => {
    const { decide, log, state, world } = await doubtful('step');
    await decide('approve_with_waiver', { note: 'it is there' });
    await world.run();
    expect(log).toEqual(['push 1']);
    expect(state().steps.get('push')).toMatchObject({ outcome: 'degraded' });
    expect(state()).toMatchObject({ status: 'completed', result: { text: '{"pushed":"null"}' } });
  });

  test('fails the run with the cause if it is rejected', async () => {
    const { decide, log, state, world } = await doubtful('step');
    await decide('reject');
    await world.run();
    expect(log).toEqual(['push 1']);
    expect(state()).toMatchObject({ status: 'failed', error: { code: 'RUN_ORPHANED', stepId: 'push' } });
  });

  test('cancels the run if it is halted', async () => {
    const { decide, state, world } = await doubtful('step');
    await decide('halt');
    await world.run();
    expect(state()).toMatchObject({ status: 'cancelled', stopKind: 'halt' });
  });

  test('is decided although the worker that received the answer dies', async () => {
    const { decide, log, state, world, runId } = await doubtful('step');
    await decide('approve');
    world.queue.take();
    const process = mortal(world.deps, 7);
    void drive(process.deps, { runId, alone: true });
    process.kill();
    await world.run();
    expect(state().status).toBe('completed');
    expect(log).toEqual(['push 1', 'push 2']);
  });
});

test('does not apply a repeated answer to the next crash', async () => {
  const { decide, log, state, world, runId } = await doubtful('step');
  await decide('approve');
  world.queue.take();
  const process = mortal(world.deps, 7);
  const store = intercept(process.deps.store, async ({ method, args }, proceed) => {
    const answer = await proceed();
    const begins =
      method === 'commit' && (args[0] as JournalCommit).events.some(({ type }) => type === 'step_started');
    if (begins) process.kill();
    return begins ? never() : answer;
  });
  void drive({ ...process.deps, store }, { runId, alone: true });
  await world.run(() => state().status === 'awaiting_approval');
  expect(state().waits).toMatchObject([{ id: 'push.1.2.doubt' }]);
  await expect(decide('approve')).rejects.toMatchObject({
    code: 'APPROVAL_DECIDED',
    details: { waitId: 'push.1.1.doubt', decision: 'approve' },
    help: expect.stringContaining('push.1.2.doubt'),
  });
  expect(log).toEqual(['push 1']);
  await decide('approve', { waitId: 'push.1.2.doubt' });
  await world.run();
  expect(log).toEqual(['push 1', 'push 3']);
  expect(state().status).toBe('completed');
});

describe('items that must not run twice', () => {
  test('are decided one by one, and the map has all their results', async () => {
    const { decide, log, state, world } = await doubtful('map');
    expect(state().waits.map(({ id }) => id)).toEqual(['push[0].1.1.doubt', 'push[1].1.1.doubt']);
    await decide('approve', { stepId: 'push[0]' });
    await world.run(() => state().status === 'awaiting_approval');
    await decide('approve_with_waiver', { stepId: 'push[1]', note: 'seen' });
    await world.run();
    expect(log).toEqual(['a 1', 'b 1', 'a 2']);
    expect(state()).toMatchObject({ status: 'completed', result: { text: '{"pushed":"[7,null]"}' } });
  });

  test('fail the map if one is rejected', async () => {
    const { decide, state, world } = await doubtful('map');
    await decide('reject', { stepId: 'push[1]' });
    await world.run(() => state().status === 'awaiting_approval');
    await decide('approve', { stepId: 'push[0]' });
    await world.run();
    expect(state()).toMatchObject({ status: 'failed', error: { stepId: 'push' } });
  });
});
