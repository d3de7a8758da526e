import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_DEATHS_ALONE } from '../../packages/cairn/src/core/decisions/ending-facts.ts';
import { isOver } from '../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { RunJournal } from '../../packages/cairn/src/journal/run-journal.ts';
import { driveRequestOf } from '../../packages/cairn/src/memory/memory-task-queue.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { CrashPlan } from '../../packages/cairn/src/testing/world/crash-plan.ts';
import { intercept } from '../support/intercept.ts';
import { dieDuring, mortal } from '../support/mortal.ts';
import { assertSnapshot, assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

interface Hanging {
  readonly idempotent?: boolean;
  readonly newAttempt?: boolean;
  readonly retry?: { readonly maxAttempts: number };
}

/** Two quick steps and, between them, one that hangs as long as `hang` says. */
function hanging({ idempotent = true, ...more }: Hanging = {}) {
  const ran = { before: 0, middle: 0, after: 0 };
  const control = { hang: true };
  const workflow = defineWorkflow({
    type: 'hanging',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const before = step('before', () => {
        ran.before += 1;
        return 'b';
      });
      const middle = step('middle', { needs: { before }, idempotent, timeout: '5m', ...more }, () => {
        ran.middle += 1;
        return control.hang ? new Promise<string>(() => {}) : 'm';
      });
      const after = step('after', { needs: { before, middle } }, ({ before, middle }) => {
        ran.after += 1;
        return before + middle;
      });
      return { after };
    },
  });
  return { workflow, ran, control };
}

/** A world in which a drive was killed during `middle`, after the end of its lease. */
async function killedMidFlight(options: Hanging = {}) {
  const { workflow, ran, control } = hanging(options);
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('hanging');
  world.queue.take();
  await dieDuring(world.deps, { runId });
  expect(ran.middle).toBe(1);
  control.hang = false;
  world.clock.jump(world.deps.settings.leaseMs + 1);
  return { world, runId, ran };
}

describe('a run whose drive was killed', () => {
  test.each(['scan', 'drive'] as const)(
    'is found interrupted by a %s, and continues from its last checkpoint',
    async (finder) => {
      const { world, runId, ran } = await killedMidFlight();
      if (finder === 'drive') await drive(world.deps, { runId });
      await world.run();
      const state = assertStored(world.db, runId);
      expect(state).toMatchObject({
        status: 'completed',
        result: { text: '{"after":"bm"}' },
        resumeCount: 1,
        // The first drive, one alone until the interrupted step has ended, and a last one.
        epoch: 3,
      });
      expect(ran).toEqual({ before: 1, middle: 2, after: 1 });
      const types = await world.eventTypes(runId);
      expect(types.filter((type) => type === 'orphan_detected' || type === 'run_resumed')).toEqual([
        'orphan_detected',
        'run_resumed',
      ]);
    },
  );

  test('is resumed once although ten scans and ten drives find it at the same moment', async () => {
    const { world, runId, ran } = await killedMidFlight();
    const others = Array.from({ length: 10 }, (_, i) => mortal(world.deps, 100 + i).deps);
    await Promise.all([...others.map((deps) => scan(deps)), ...others.map((deps) => drive(deps, { runId }))]);
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed', resumeCount: 1 });
    expect(ran.middle).toBe(2);
    const types = await world.eventTypes(runId);
    expect(types.filter((type) => type === 'orphan_detected')).toHaveLength(1);
  });

  test('fails with RUN_ORPHANED if a step that must not run twice was under way', async () => {
    const { world, runId, ran } = await killedMidFlight({ idempotent: false });
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state.status).toBe('failed');
    expect(state.error).toMatchObject({ code: 'RUN_ORPHANED', stepId: 'middle' });
    expect(ran).toEqual({ before: 1, middle: 1, after: 0 });
  });

  test('begins a step that must not run twice as a new, recorded attempt, if the step allows one', async () => {
    const { world, runId, ran } = await killedMidFlight({ idempotent: false, newAttempt: true });
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'completed', result: { text: '{"after":"bm"}' }, resumeCount: 1 });
    expect(ran).toEqual({ before: 1, middle: 2, after: 1 });
    const events = await world.store.readEvents(runId, 0, 100);
    const begun = events.flatMap(({ type, data }) =>
      type === 'step_started' && data.stepId === 'middle' ? [data.attempt] : [],
    );
    expect(begun).toEqual([1, 2]);
    expect(events.find(({ type }) => type === 'run_resumed')?.data).toMatchObject({
      reason: 'orphan recovered from its last checkpoint; a new attempt of middle',
    });
  });

  test('is left alone while its lease is live, however often it is probed', async () => {
    const { workflow, ran } = hanging();
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('hanging');
    void drive(world.deps, { runId });
    await settle();
    const { head } = await world.folded(runId);
    // Heartbeats continue, so the lease is extended as long as the step runs.
    for (let second = 0; second < 60; second += 1) {
      const until = world.clock.now() + 1_000;
      while (world.clock.fireNext(until)) await settle();
      world.clock.jump(until - world.clock.now());
      await scan(mortal(world.deps, 200).deps);
      expect(await drive(mortal(world.deps, 300 + second).deps, { runId })).toBe('leased');
    }
    expect((await world.folded(runId)).head).toBe(head);
    expect(ran.middle).toBe(1);
    expect(world.db.runs.get(runId)?.metadata.lastHeartbeatAt).toBeGreaterThan(world.clock.now() - 2_000);
  });

  /** Delivers the due tasks to a new process, kills it once it is idle, and lets its lease expire. */
  async function die(world: World, seed: number): Promise<void> {
    const victim = mortal(world.deps, seed);
    for (
      let due = world.queue.due(world.clock.now());
      due.length > 0;
      due = world.queue.due(world.clock.now())
    ) {
      for (const task of due) {
        world.queue.take(task.id);
        void drive(victim.deps, driveRequestOf(task));
      }
      await settle();
    }
    victim.kill();
    world.clock.jump(world.deps.settings.leaseMs + 1);
    await scan(world.deps);
  }

  test('takes no more attempts of a step that must not run twice than `retry` allows', async () => {
    const { workflow, ran } = hanging({ idempotent: false, newAttempt: true, retry: { maxAttempts: 2 } });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('hanging');
    for (const attempt of [1, 2]) {
      await die(world, 50 + attempt);
      expect(ran.middle).toBe(attempt);
    }
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'failed',
      error: { code: 'RUN_ORPHANED', stepId: 'middle' },
    });
    expect(ran).toEqual({ before: 1, middle: 2, after: 0 });
  });

  test('fails with a named error after one death beside other runs and three alone', async () => {
    const { workflow, ran } = hanging();
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('hanging');
    for (let death = 0; death <= MAX_DEATHS_ALONE; death += 1) {
      await die(world, 50 + death);
      expect(ran.middle).toBe(death + 1);
    }
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state.status).toBe('failed');
    expect(state.error).toMatchObject({ code: 'RUN_RESUME_FAILED', stepId: 'middle' });
    expect(ran).toEqual({ before: 1, middle: MAX_DEATHS_ALONE + 1, after: 0 });
  });

  /** A chain of steps, each `every`-th of which kills its first worker. */
  async function deadly({ steps, every }: { steps: number; every: number }) {
    const ran: string[] = [];
    const workflow = defineWorkflow({
      type: 'deadly',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        let last = step('s0', () => 0);
        for (let i = 1; i <= steps; i += 1) {
          last = step(`s${i}`, { needs: { last } }, ({ last, stepId }) => {
            ran.push(stepId);
            const isFirst = ran.filter((id) => id === stepId).length === 1;
            return isFirst && i % every === 0 ? new Promise<number>(() => {}) : last + 1;
          });
        }
        return { last };
      },
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('deadly');
    return { world, runId };
  }

  test('forgets earlier deaths once ten bodies have ended alone', async () => {
    const deaths = 8;
    const { world, runId } = await deadly({ steps: 10 * deaths, every: 10 });
    for (let death = 0; death < deaths; death += 1) await die(world, 50 + death);
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'completed', resumeCount: deaths });
    expect(state.suspect).toMatchObject({ steps: [], deaths: [] });
  });

  test('fails with a named error after three deaths alone, in three steps in a row', async () => {
    const { world, runId } = await deadly({ steps: 8, every: 1 });
    // First s1 kills its worker, beside other runs. It ends alone, s2 kills a worker beside other runs, and s2 to s4 at most
    // kill workers alone.
    for (let death = 0; death <= MAX_DEATHS_ALONE + 1; death += 1) {
      if (isOver(assertStored(world.db, runId))) break;
      await die(world, 50 + death);
    }
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'failed', error: { code: 'RUN_RESUME_FAILED' } });
    expect(state.suspect?.inARow).toMatchObject({ times: MAX_DEATHS_ALONE });
  });

  test('is blocked if its plan version is missing, and resumed when that is back', async () => {
    const { world, runId } = await killedMidFlight();
    const without = { ...world.deps, registry: new World({ workflows: [] }).deps.registry };
    const parked = () => world.db.runs.get(runId)?.snapshot.status === 'waiting_external';
    await world.run(parked, without);
    expect(await drive(without, { runId })).toBe('waiting');
    // Each check leaves the run unchanged.
    for (let look = 0; look < 3; look += 1) {
      world.clock.jump(11 * 60_000);
      expect(await scan(without)).toMatchObject({ found: 1, enqueued: 0, failed: 0 });
    }
    expect(parked()).toBe(true);
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('completed');
  });

  test('is cancelled instead of resumed if a cancel arrived meanwhile', async () => {
    const { world, runId, ran } = await killedMidFlight();
    const loaded = await world.store.load(runId);
    if (!loaded) throw new Error('no run');
    await new RunJournal(world.deps, loaded, { ...world.deps.settings }).append(() => [
      { type: 'cancel_requested', initiator: 'user', actor: 'u1', data: { stopKind: 'user' } },
    ]);
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'cancelled', stopKind: 'user' });
    expect(ran.after).toBe(0);
  });
});

describe('the scan', () => {
  test('starts a run whose only task was lost, and several runs one after another', async () => {
    const { workflow, control } = hanging();
    control.hang = false;
    const world = new World({ workflows: [workflow] });
    const runIds = [];
    for (let i = 0; i < 5; i += 1) runIds.push(await world.start('hanging'));
    while (world.queue.take());
    world.clock.jump(60_001);
    expect(await scan(world.deps)).toMatchObject({ found: 5, enqueued: 5, recovered: 0, failed: 0 });
    expect(await scan(world.deps)).toMatchObject({ found: 0 });
    await world.run();
    for (const runId of runIds) expect(assertStored(world.db, runId).status).toBe('completed');
  });

  test('continues with the other runs if one cannot be read, and retries that one later', async () => {
    const { workflow, control } = hanging();
    control.hang = false;
    const world = new World({ workflows: [workflow] });
    const broken = await world.start('hanging');
    const sound = await world.start('hanging');
    while (world.queue.take());
    const logged: string[] = [];
    const store = intercept(world.store, async ({ method, args }, proceed) => {
      if (method === 'load' && args[0] === broken) throw new Error('unreadable');
      return proceed();
    });
    const log = { ...world.deps.log, error: (event: string) => void logged.push(event) };
    world.clock.jump(60_001);
    expect(await scan({ ...world.deps, store, log })).toMatchObject({ found: 2, enqueued: 1, failed: 1 });
    expect(logged).toEqual(['scan_failed']);
    expect(world.queue.pending.map((task) => task.runId)).toEqual([sound]);
    world.clock.jump(60_001);
    expect((await world.store.dueRuns(world.clock.now(), 10)).map(({ runId }) => runId)).toContain(broken);
    await world.run();
    expect(assertStored(world.db, broken).status).toBe('completed');
  });

  test('leaves the snapshot consistent after everything it does', async () => {
    const { world, runId } = await killedMidFlight();
    let movedTo = 0;
    const store = intercept(world.store, async ({ method, args }, proceed) => {
      const answer = await proceed();
      const [{ wakeAt }] = method === 'touch' ? (args as [{ wakeAt?: number }]) : [{}];
      movedTo = wakeAt ?? movedTo;
      const run = world.db.runs.get(runId);
      if (run) assertSnapshot(run, movedTo);
      return answer;
    });
    await world.run(undefined, { ...world.deps, store });
    expect(assertStored(world.db, runId).status).toBe('completed');
  });
});

test('a run whose task waits in the queue for an hour gets ten more tasks, not one each minute', async () => {
  const { workflow, control } = hanging();
  control.hang = false;
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('hanging');
  const enqueuedAt: number[] = [];
  for (let minute = 1; minute <= 60; minute += 1) {
    world.clock.jump(60_000);
    if ((await scan(world.deps)).enqueued > 0) enqueuedAt.push(minute);
  }
  expect(enqueuedAt).toEqual([1, 2, 4, 8, 16, 26, 36, 46, 56]);
  await world.run();
  expect(world.stateOf(runId).status).toBe('completed');
});

test.each(['before', 'after'] as const)(
  'a scan that dies %s any of its calls does not leave a run that has long been ready without a task for more than a minute',
  async (moment) => {
    const tasksAfter = async (call: number) => {
      const world = new World({ workflows: [hanging().workflow] });
      const runId = await world.start('hanging');
      world.queue.take();
      world.clock.jump(3_600_000);
      const plan = new CrashPlan({ call, moment });
      void scan(mortal(world.deps, 50, { plan, onDeath: () => {} }).deps);
      await settle();
      world.clock.jump(60_000);
      await scan(world.deps);
      const tasks = world.queue.pending.filter((task) => task.runId === runId).length;
      return { tasks, isOver: plan.made.length <= call };
    };
    for (let call = 0; ; call += 1) {
      const { tasks, isOver } = await tasksAfter(call);
      expect([call, tasks > 0]).toEqual([call, true]);
      if (isOver) break;
    }
  },
);
