import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal, RetryAt } from '../../packages/cairn/src/core/errors.ts';
import type { RunStatus } from '../../packages/cairn/src/core/run/status.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { RunJournal } from '../../packages/cairn/src/journal/run-journal.ts';
import { type CancelRequest, cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import { intercept, never } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

const HOUR_MS = 3_600_000;

type What = 'return' | 'fail' | 'rest' | 'hang' | 'sleep';

/** One step that behaves as the input says, after a sleep if the input has one. */
const workflow = defineWorkflow({
  type: 'does',
  planVersion: 1,
  input: z.object({ what: z.enum(['return', 'fail', 'rest', 'hang', 'sleep']), now: z.number() }),
  steps: (step) => {
    const slept = step.sleep('slept', { when: ({ input }) => input.what === 'sleep', for: '1h' });
    const done = step('do', { needs: { slept }, ifSkipped: 'run', timeout: '5m' }, ({ input, signal }) => {
      if (input.what === 'fail') throw new Fatal('no');
      if (input.what === 'rest') throw new RetryAt(input.now + HOUR_MS);
      if (input.what === 'return') return 1;
      return new Promise<number>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    });
    return { done };
  },
});

interface Situation {
  readonly world: World;
  readonly runId: string;
}

async function started(what: What): Promise<Situation> {
  const world = new World({ workflows: [workflow] });
  return { world, runId: await world.start('does', { what, now: world.clock.now() }) };
}

/** Ways to get a run without a worker, using only real code. */
const UNLEASED: Readonly<Record<string, () => Promise<Situation>>> = {
  pending: () => started('return'),
  'running, resting before a retry': async () => {
    const situation = await started('rest');
    await drive(situation.world.deps, situation);
    return situation;
  },
  'interrupted, its recovery not yet decided': async () => {
    const { world, runId } = await started('hang');
    await deadDrive(world, runId);
    world.clock.jump(world.deps.settings.leaseMs + 1);
    const loaded = await world.store.load(runId);
    if (!loaded?.state.lease) throw new Error('nobody held it');
    const { owner, epoch } = loaded.state.lease;
    await new RunJournal(world.deps, loaded, { ...world.deps.settings }).append(() => [
      { type: 'orphan_detected', initiator: 'timeout', data: { owner, epoch, lastHeartbeatAt: 0 } },
    ]);
    return { world, runId };
  },
  'waiting_external, asleep': async () => {
    const situation = await started('sleep');
    await drive(situation.world.deps, situation);
    expect(assertStored(situation.world.db, situation.runId).waits).toHaveLength(1);
    return situation;
  },
  'waiting_external, parked': async () => {
    const situation = await started('return');
    const registry = new WorkflowRegistry([]);
    await drive({ ...situation.world.deps, registry }, situation);
    return situation;
  },
};

/** A dispatch whose process ends during its step. */
async function deadDrive(world: World, runId: string): Promise<void> {
  let alive = true;
  const mayDie = (_: unknown, proceed: () => Promise<unknown>) => (alive ? proceed() : never());
  const clock = { now: () => world.clock.now(), timer: () => () => {} };
  void drive({ ...world.deps, store: intercept(world.store, mayDie), clock }, { runId });
  await settle();
  alive = false;
}

const request = (runId: string, changes: Partial<CancelRequest> = {}): CancelRequest => ({
  runId,
  tenantId: 't1',
  actor: 'c.ada',
  reason: 'no longer needed',
  stopKind: 'user',
  ...changes,
});

describe.each(Object.keys(UNLEASED))('a run: %s', (name) => {
  const situation = UNLEASED[name] ?? (() => Promise.reject(new Error(name)));

  test('is cancelled in one commit, which names the caller, the reason and the time', async () => {
    const { world, runId } = await situation();
    expect(assertStored(world.db, runId).status).toBe(name.split(',')[0]);
    const before = assertStored(world.db, runId).head;
    let commits = 0;
    const store = intercept(world.store, async ({ method }, proceed) => {
      if (method === 'commit') commits += 1;
      return proceed();
    });
    const answer = await cancelRun({ ...world.deps, store }, request(runId));
    const requestedAt = world.clock.now();
    expect(answer).toEqual({ runId, status: 'cancelled', requestedAt, reason: 'no longer needed' });
    expect(commits).toBe(1);
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({
      status: 'cancelled',
      stopKind: 'user',
      head: before + 2,
      checkpointHead: before + 2,
      cancellation: { actor: 'c.ada', reason: 'no longer needed', requestedAt, stopKind: 'user' },
      waits: [],
      completedAt: requestedAt,
    });
    const events = await world.store.readEvents(runId, before, 10);
    expect(events).toMatchObject(
      ['cancel_requested', 'run_cancelled'].map((type) => ({
        type,
        initiator: 'user',
        actor: 'c.ada',
        data: { stopKind: 'user', reason: 'no longer needed' },
      })),
    );
  });

  test('needs no further work: it has no wakeAt, and a task for it does nothing', async () => {
    const { world, runId } = await situation();
    await cancelRun(world.deps, request(runId));
    expect(world.db.runs.get(runId)?.wakeAt).toBeUndefined();
    const { head } = assertStored(world.db, runId);
    await world.run();
    expect(world.queue.pending).toHaveLength(0);
    expect(assertStored(world.db, runId).head).toBe(head);
  });

  test('repeats the first answer to every later request, and writes nothing', async () => {
    const { world, runId } = await situation();
    const first = await cancelRun(world.deps, request(runId));
    world.clock.jump(1_000);
    const { head } = assertStored(world.db, runId);
    expect(await cancelRun(world.deps, request(runId, { reason: 'other', actor: 'c.bob' }))).toEqual(first);
    expect(assertStored(world.db, runId).head).toBe(head);
  });
});

describe('a run with a worker', () => {
  test('gets a request to end, and its worker ends it within five seconds, with the reason passed to the step', async () => {
    const { world, runId } = await started('hang');
    world.queue.take();
    const driving = drive(world.deps, { runId });
    await settle();
    expect(assertStored(world.db, runId).lease).toBeDefined();
    const requestedAt = world.clock.now();
    const first = await cancelRun(world.deps, request(runId));
    expect(first).toEqual({ runId, status: 'cancelling', requestedAt, reason: 'no longer needed' });
    expect(await cancelRun(world.deps, request(runId, { reason: 'again' }))).toEqual(first);
    expect((await world.eventTypes(runId)).filter((type) => type === 'cancel_requested')).toHaveLength(1);
    while (world.clock.fireNext(requestedAt + 5_000)) await settle();
    expect(await driving).toBe('closed');
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'cancelled',
      cancellation: { requestedAt, reason: 'no longer needed', actor: 'c.ada' },
    });
    expect(await cancelRun(world.deps, request(runId))).toEqual({ ...first, status: 'cancelled' });
  });

  test('is cancelled after its worker died and the lease expired, by the task or scan that finds it', async () => {
    const { world, runId } = await started('hang');
    world.queue.take();
    await deadDrive(world, runId);
    expect(await cancelRun(world.deps, request(runId))).toMatchObject({ status: 'cancelling' });
    const askedAt = world.clock.now();
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'cancelled', resumeCount: 0, interruptions: 1 });
    expect((state.completedAt ?? 0) - askedAt).toBeLessThan(2 * world.deps.settings.leaseMs);
  });

  test('is cancelled after its worker died, although its plan version is not deployed', async () => {
    const { world, runId } = await started('hang');
    await deadDrive(world, runId);
    await cancelRun(world.deps, request(runId));
    await world.run(undefined, { ...world.deps, registry: new WorkflowRegistry([]) });
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'cancelled',
      cancellation: { actor: 'c.ada', reason: 'no longer needed' },
    });
  });
});

describe('a run that has ended without a cancel', () => {
  test.each<['return' | 'fail', RunStatus]>([
    ['return', 'completed'],
    ['fail', 'failed'],
  ])('by %s is refused with its status', async (what, status) => {
    const { world, runId } = await started(what);
    await world.run();
    const { head } = assertStored(world.db, runId);
    await expect(cancelRun(world.deps, request(runId))).rejects.toMatchObject({
      code: 'RUN_TERMINAL_STATE',
      httpStatus: 409,
      details: { from: status },
    });
    expect(assertStored(world.db, runId)).toMatchObject({ head, status });
  });
});

describe('the author of a cancel', () => {
  test.each<[CancelRequest['stopKind'], string | undefined, string]>([
    ['user', 'c.ada', 'user'],
    ['halt', 'c.ada', 'user'],
    ['system', undefined, 'system'],
    ['policy', undefined, 'policy'],
  ])('a cancellation of kind %s by %s has the initiator %s', async (stopKind, actor, initiator) => {
    const { world, runId } = await started('return');
    await cancelRun(world.deps, request(runId, { stopKind, actor, reason: undefined }));
    const state = assertStored(world.db, runId);
    expect(state.stopKind).toBe(stopKind);
    const { requestedAt } = state.cancellation ?? {};
    expect(state.cancellation).toEqual({ stopKind, requestedAt, ...(actor === undefined ? {} : { actor }) });
    const events = await world.store.readEvents(runId, 1, 10);
    for (const event of events) expect(event).toMatchObject({ initiator, data: { stopKind } });
  });

  test('another tenant gets the answer for a missing run', async () => {
    const { world, runId } = await started('return');
    await expect(cancelRun(world.deps, request(runId, { tenantId: 't2' }))).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
    expect(assertStored(world.db, runId).status).toBe('pending');
  });
});
