import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_INTERRUPTIONS } from '../../functions/src/core/decisions/end-facts.ts';
import { defineWorkflow } from '../../functions/src/engine/define/workflow.ts';
import { drive } from '../../functions/src/engine/drive/drive.ts';
import { RunJournal } from '../../functions/src/journal/run-journal.ts';
import { scan } from '../../functions/src/recovery/scan.ts';
import { intercept } from '../support/intercept.ts';
import { mortal } from '../support/mortal.ts';
import { assertSnapshot, assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

/** Two quick steps and, between them, one that hangs as long as `hang` says. */
function hanging({ idempotent = true } = {}) {
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
      const middle = step('middle', { needs: { before }, idempotent, timeout: '5m' }, () => {
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

/** A world in which a drive was killed while `middle` was under way, as seen after its lease. */
async function killedMidFlight(options: { idempotent?: boolean } = {}) {
  const { workflow, ran, control } = hanging(options);
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('hanging');
  world.queue.take();
  const victim = mortal(world.deps, 50);
  void drive(victim.deps, { runId });
  await settle();
  expect(ran.middle).toBe(1);
  victim.kill();
  control.hang = false;
  world.clock.jump(world.deps.settings.leaseMs + 1);
  return { world, runId, ran };
}

describe('a run whose drive was killed', () => {
  test.each(['scan', 'drive'] as const)(
    'is found interrupted by a %s, and goes on from its last checkpoint',
    async (finder) => {
      const { world, runId, ran } = await killedMidFlight();
      if (finder === 'drive') await drive(world.deps, { runId });
      await world.run();
      const state = assertStored(world.db, runId);
      expect(state).toMatchObject({
        status: 'completed',
        result: { text: '{"after":"bm"}' },
        resumeCount: 1,
        epoch: 2,
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

  test('is not touched while its lease lives, however often it is looked at', async () => {
    const { workflow, ran } = hanging();
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('hanging');
    void drive(world.deps, { runId });
    await settle();
    const { head } = await world.folded(runId);
    // The beat goes on, so the lease is extended for as long as the step takes.
    for (let second = 0; second < 60; second += 1) {
      const until = world.clock.now() + 1_000;
      while (world.clock.fireNext(until)) await settle();
      world.clock.jump(until - world.clock.now());
      await scan(mortal(world.deps, 200).deps);
      expect(await drive(mortal(world.deps, 300 + second).deps, { runId })).toBe('leased');
    }
    expect((await world.folded(runId)).head).toBe(head);
    expect(ran.middle).toBe(1);
    expect(world.db.runs.get(runId)?.soft.lastHeartbeatAt).toBeGreaterThan(world.clock.now() - 2_000);
  });

  test('fails with RUN_RESUME_FAILED after five interruptions without a checkpoint between them', async () => {
    const { workflow, ran } = hanging();
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('hanging');
    for (let death = 1; death <= MAX_INTERRUPTIONS; death += 1) {
      const victim = mortal(world.deps, 50 + death);
      void drive(victim.deps, { runId });
      await settle();
      expect(ran.middle).toBe(death);
      victim.kill();
      world.clock.jump(world.deps.settings.leaseMs + 1);
    }
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state.status).toBe('failed');
    expect(state.error).toMatchObject({ code: 'RUN_RESUME_FAILED' });
    expect(ran.middle).toBe(MAX_INTERRUPTIONS);
    expect(state.resumeCount).toBe(MAX_INTERRUPTIONS - 1);
  });

  test('counts interruptions anew after each checkpoint', async () => {
    const steps = 8;
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
            // Every step kills its first worker.
            return ran.filter((id) => id === stepId).length === 1 ? new Promise<number>(() => {}) : last + 1;
          });
        }
        return { last };
      },
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('deadly');
    for (let death = 0; death < steps; death += 1) {
      const victim = mortal(world.deps, 50 + death);
      void drive(victim.deps, { runId });
      await settle();
      victim.kill();
      world.clock.jump(world.deps.settings.leaseMs + 1);
    }
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed', resumeCount: steps });
  });

  test('is parked if its plan version is gone, and resumed when that is back', async () => {
    const { world, runId } = await killedMidFlight();
    const without = { ...world.deps, registry: new World({ workflows: [] }).deps.registry };
    const parked = () => world.db.runs.get(runId)?.snapshot.status === 'waiting_external';
    await world.run(parked, without);
    expect(await drive(without, { runId })).toBe('waiting');
    // Looked at again and again, but left where it is.
    for (let look = 0; look < 3; look += 1) {
      world.clock.jump(11 * 60_000);
      expect(await scan(without)).toMatchObject({ found: 1, enqueued: 0, failed: 0 });
    }
    expect(parked()).toBe(true);
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('completed');
  });

  test('is cancelled instead of resumed if somebody asked for that meanwhile', async () => {
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
  test('starts a run whose only task was lost, and one run after another', async () => {
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

  test('goes on with the others if one run cannot be read, and comes back to that one later', async () => {
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

  test('leaves the snapshot sound after everything it does', async () => {
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
