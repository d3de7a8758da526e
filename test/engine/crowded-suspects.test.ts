import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { CairnError } from '../../packages/cairn/src/core/errors.ts';
import { isOver } from '../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { type DispatchEnd, drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { driveRequestOf } from '../../packages/cairn/src/memory/memory-task-queue.ts';
import { signalRun } from '../../packages/cairn/src/operations/events/signal-run.ts';
import { resumeRun } from '../../packages/cairn/src/operations/successors/resume-run.ts';
import { continueRun } from '../../packages/cairn/src/operations/suspend-run.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { CrashPlan, type CrashPoint } from '../../packages/cairn/src/testing/world/crash-plan.ts';
import { MemoryEventBus } from '../support/memory/memory-event-bus.ts';
import { mortal } from '../support/mortal.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

const MINUTE_MS = 60_000;
/** Longer than any crowd of this test takes. */
const MOST_MINUTES = 120;
/** Calls of a process until it only waits for bodies. */
const MOST_CALLS = 12;

interface Crowd {
  /** Runs of a step that runs again after a crash. */
  readonly plain: number;
  /** Runs of a step that must not run twice. */
  readonly once: number;
  /** Children of each run that waits for some. */
  readonly children: readonly number[];
  /** Time between two dispatches alone: all others wait in the queue. */
  readonly everyMs: number;
  /** The call at which the process of each run dies, unless a body of it has begun before. */
  readonly dies: CrashPoint;
  /** Requests to all runs that are running, made before each dispatch alone. */
  readonly asked: readonly Asked[];
  /**
   * True if the tasks of the dead processes, and those that watch their leases, are lost, so that the scan must find the runs.
   */
  readonly areLost: boolean;
}

/** Requests that leave nothing to do for a run that is ready. */
const ASKED = ['continue', 'resume', 'signal'] as const;
type Asked = (typeof ASKED)[number];

/** A dispatch alone, and how it ended. */
interface Alone {
  readonly runId: string;
  readonly end: DispatchEnd;
}

const WORKED: readonly DispatchEnd[] = ['released', 'closed', 'suspended'];

/** The bodies of the first process never end. */
function crowded() {
  const process = { isFirst: true };
  const body = () => (process.isFirst ? new Promise<string>(() => {}) : 'done');
  const leaf = defineWorkflow({
    type: 'leaf',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ a: step('a', () => 1) }),
  });
  const one = (type: string, idempotent: boolean) =>
    defineWorkflow({
      type,
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({ a: step('a', { idempotent, timeout: '5m' }, body) }),
    });
  const parent = defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.object({ children: z.number() }),
    steps(step) {
      const leaves = step.child('leaves', {
        workflow: leaf,
        over: ({ input }) => Array.from({ length: input.children }, (_, index) => index),
        input: () => ({}),
      });
      return { after: step('after', { needs: { leaves } }, () => 'done') };
    },
  });
  const world = new World({
    workflows: [leaf, one('plain', true), one('once', false), parent],
    bus: new MemoryEventBus(),
  });
  return { world, process };
}

/**
 * Kills the process of each run, then delivers dispatches alone one by one, with a scan every minute. Returns those dispatches.
 */
async function dispatchedAlone({
  plain,
  once,
  children,
  everyMs,
  dies,
  asked,
  areLost,
}: Crowd): Promise<Alone[]> {
  const { world, process } = crowded();
  const runs: string[] = [];
  for (let at = 0; at < plain; at += 1) runs.push(await world.start('plain'));
  for (let at = 0; at < once; at += 1) runs.push(await world.start('once'));
  for (const count of children) runs.push(await world.start('parent', { children: count }));
  const served = world.queue.due(world.clock.now());
  for (const task of served) {
    world.queue.take(task.id);
    const victim = mortal(world.deps, task.id, { plan: new CrashPlan(dies), onDeath() {} });
    void drive(victim.deps, driveRequestOf(task));
    await settle();
    victim.kill();
  }
  process.isFirst = false;
  for (const task of areLost ? [] : served)
    world.queue.repeat(task, { at: world.clock.now() + 100, answered: false });

  let signals = 0;
  /** A refusal is an answer too. */
  const ask = async (runId: string, what: Asked): Promise<void> => {
    signals += 1;
    const of = { runId, tenantId: world.stateOf(runId).tenantId, actor: 'u.ann' };
    const answer = {
      continue: () => continueRun(world.deps, of),
      resume: () => resumeRun({ ...world.deps, records: world.records }, of),
      signal: () => signalRun(world.deps, { ...of, signalId: `s.${signals}`, name: 'news', data: 1 }),
    }[what]();
    await answer.catch((error: unknown) => expect(error).toBeInstanceOf(CairnError));
  };

  const dispatched: Alone[] = [];
  let aloneAt = world.clock.now();
  let scanAt = world.clock.now() + MINUTE_MS;
  const until = world.clock.now() + MOST_MINUTES * MINUTE_MS;
  const finish = async (driving: Promise<DispatchEnd>): Promise<DispatchEnd> => {
    await settle();
    return driving;
  };
  while (world.clock.now() < until) {
    const now = world.clock.now();
    const due = world.queue.due(now);
    const next = due.find(({ alone }) => !alone) ?? (aloneAt <= now ? due[0] : undefined);
    if (next) {
      world.queue.take(next.id);
      if (areLost && next.watches) continue;
      if (next.alone)
        for (const runId of runs.filter((of) => world.stateOf(of).status === 'running'))
          for (const what of asked) await ask(runId, what);
      const end = await finish(drive(world.deps, driveRequestOf(next)));
      if (next.alone) {
        dispatched.push({ runId: next.runId, end });
        aloneAt = now + everyMs;
      }
      continue;
    }
    if (scanAt <= now) {
      await scan(world.deps);
      scanAt = now + MINUTE_MS;
      continue;
    }
    const isEnded = runs.every((runId) => isOver(world.stateOf(runId)));
    if (isEnded && world.queue.pending.length === 0 && world.nextWake === undefined) break;
    const times = [scanAt, aloneAt, world.queue.nextAt()].filter(
      (at) => at !== undefined && at > now,
    ) as number[];
    const at = Math.min(...times);
    if (!world.clock.fireNext(at)) world.clock.jump(at - now);
  }
  for (const runId of runs) expect(isOver(assertStored(world.db, runId))).toBe(true);
  return dispatched;
}

const crowds = (everyMs: fc.Arbitrary<number>): fc.Arbitrary<Crowd> =>
  fc.record({
    plain: fc.integer({ min: 0, max: 5 }),
    once: fc.integer({ min: 0, max: 5 }),
    children: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 3 }),
    everyMs,
    dies: fc.record({
      call: fc.integer({ min: 0, max: MOST_CALLS }),
      moment: fc.constantFrom('before' as const, 'after' as const),
    }),
    asked: fc.array(fc.constantFrom(...ASKED), { maxLength: 3 }),
    areLost: fc.boolean(),
  });

test('a suspect takes a process of its own only to run its bodies', async () => {
  await fc.assert(
    fc.asyncProperty(crowds(fc.integer({ min: 1, max: 2_500 })), async (crowd) => {
      const dispatched = await dispatchedAlone(crowd);
      expect(dispatched.filter(({ end }) => !WORKED.includes(end))).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('a run that ends when its worker is found dead needs no such process, however long others wait for one', async () => {
  await fc.assert(
    fc.asyncProperty(crowds(fc.constant(90_000)), async (crowd) => {
      const dispatched = await dispatchedAlone(crowd);
      const worked = new Set(dispatched.flatMap(({ runId, end }) => (WORKED.includes(end) ? [runId] : [])));
      expect(dispatched.filter(({ runId }) => !worked.has(runId))).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
