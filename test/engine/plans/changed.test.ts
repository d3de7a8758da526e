import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { LONGEST_CHECK_MS } from '../../../packages/cairn/src/core/run/wake.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { KnownPlans } from '../../../packages/cairn/src/engine/plans/known-plans.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { startRun } from '../../../packages/cairn/src/operations/start/start-run.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { dieDuring } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { NEWER, plainStart, World } from '../../support/world.ts';

let ran: string[];
let hangs: boolean;
let world: World;

/** `before`, a nap, and `last`. Only the name of the last step changes. */
function work(last: string, planVersion = 1): Workflow {
  return defineWorkflow({
    type: 'work',
    planVersion,
    input: z.object({}),
    steps(step) {
      const before = step('before', { compensate: () => void ran.push('undo before') }, () => {
        ran.push('before');
        return hangs ? new Promise<number>(() => {}) : 1;
      });
      const nap = step.sleep('nap', { needs: { before }, for: '1h' });
      return {
        out: step(last, { needs: { nap } }, () => {
          ran.push(last);
          return last;
        }),
      };
    },
  });
}

const [old, other, next] = [work('ship'), work('mail'), work('mail', 2)];

beforeEach(() => {
  ran = [];
  hangs = false;
  world = new World({ workflows: [old] });
});

/** The same installation after a deployment, which starts new processes. */
function deployed(...workflows: readonly Workflow[]): EngineDeps {
  return { ...world.deps, registry: new WorkflowRegistry(workflows), plans: knownPlans() };
}

function knownPlans(): KnownPlans {
  return new KnownPlans({ ...world.deps, store: world.planStore });
}

const snapshotOf = (runId: string) => world.db.runs.get(runId)?.snapshot;
const isAsleep = (runId: string) => (snapshotOf(runId)?.waits.length ?? 0) > 0 && !snapshotOf(runId)?.lease;

const start = (deps: EngineDeps, workflow: Workflow, key?: string) =>
  startRun({ ...deps, records: world.records }, { ...plainStart(workflow, {}), key });

describe('a new run of a version that was changed', () => {
  test('is refused with the step, the change, and the next version', async () => {
    await world.start('work');
    await expect(start(deployed(other), other)).rejects.toMatchObject({
      code: 'PLAN_CHANGED',
      httpStatus: 409,
      stepId: 'ship',
      message:
        "the definition of version 1 of 'work' changed since its first run started: step 'ship' was renamed to 'mail', and 1 more difference",
      help: expect.stringContaining('planVersion 2'),
    });
    expect(world.db.runs.size).toBe(1);
  });

  test('is not refused if it was started before, by a newer version too', async () => {
    const runId = await world.start('work');
    world.writtenBy(runId, NEWER);
    const { records } = world;
    const again = { ...plainStart(other, {}), runId };
    const outcome = await startRun({ ...deployed(other), records }, again);
    expect(outcome).toMatchObject({ kind: 'replayed', runId });
  });

  test('is answered with the run that the same request started before the change', async () => {
    const first = await start(world.deps, old, 'k');
    expect(await start(deployed(other), other, 'k')).toEqual({ ...first, kind: 'replayed' });
  });

  test('starts under the next version, or with the change undone', async () => {
    await world.start('work');
    await expect(start(deployed(next, old), next)).resolves.toMatchObject({ kind: 'created' });
    await expect(start(deployed(old), old)).resolves.toMatchObject({ kind: 'created' });
  });

  test('starts if no run of the version was started before', async () => {
    await expect(start(deployed(other), other)).resolves.toMatchObject({ kind: 'created' });
    await expect(start(deployed(old), old)).rejects.toMatchObject({ code: 'PLAN_CHANGED' });
  });

  test('has one definition, though two are first started at the same time', async () => {
    const answers = await Promise.allSettled([
      start(deployed(old), old),
      start(deployed(other), other),
      start(deployed(old), old),
    ]);
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []));
    expect([1, 2]).toContain(refused.length);
    expect(new Set(refused)).toEqual(new Set(['PLAN_CHANGED']));
  });
});

test('a process reads the stored plan of an unchanged definition once', async () => {
  let reads = 0;
  const store = {
    create: world.planStore.create.bind(world.planStore),
    read: (type: string, planVersion: number) => {
      reads += 1;
      return world.planStore.read(type, planVersion);
    },
  };
  const deps = { ...world.deps, plans: new KnownPlans({ ...world.deps, store }) };
  for (let i = 0; i < 5; i += 1) await start(deps, old);
  expect(reads).toBe(1);
  expect(await world.planStore.read('work', 1)).toMatchObject({
    createdAt: expect.any(Number),
    by: /^run_/ as never,
  });
});

describe('a run whose version was changed', () => {
  test.each([
    ['has not begun', async () => {}],
    ['sleeps', async (runId: string) => world.run(() => isAsleep(runId))],
    [
      'lost its worker',
      async (runId: string) => {
        hangs = true;
        world.queue.take();
        await dieDuring(world.deps, { runId });
        hangs = false;
      },
    ],
  ])('and %s rests or is blocked, and continues when the definition is back', async (_, get) => {
    const runId = await world.start('work');
    await get(runId);
    const changed = deployed(other);
    const until = world.clock.now() + 3 * 3_600_000;
    const done = [...ran];
    await world.run(() => world.clock.now() >= until, changed);
    expect(snapshotOf(runId)?.status).toBe('waiting_external');
    if (snapshotOf(runId)?.waits.length === 0) expect(snapshotOf(runId)?.parked).toBe('PLAN_CHANGED');
    expect(await drive(changed, { runId })).toBe('waiting');
    expect(ran).toEqual(done);

    const again = deployed(next, old);
    const { head } = await world.folded(runId);
    await world.run(() => (world.db.runs.get(runId)?.events.length ?? 0) > head, again);
    expect(world.clock.now() - until).toBeLessThanOrEqual(LONGEST_CHECK_MS + 60_000);
    await world.run(() => false, again);
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      planVersion: 1,
      result: { text: '{"out":"ship"}' },
    });
    expect(ran.filter((step) => step === 'ship')).toHaveLength(1);
    expect(ran).not.toContain('mail');
  });

  test('and whose time comes meanwhile costs no dispatch before the definition is back', async () => {
    const runId = await world.start('work');
    await world.run(() => isAsleep(runId));
    const changed = deployed(other);
    for (let task = world.queue.take(); task; task = world.queue.take());
    world.clock.jump(24 * 3_600_000);
    for (let minute = 0; minute < 3; minute += 1) {
      expect(await scan(changed)).toMatchObject({ found: 1, enqueued: 0 });
      expect(await scan(changed)).toMatchObject({ found: 0 });
      world.clock.jump(60_000);
    }
    expect(await scan(deployed(old))).toMatchObject({ found: 1, enqueued: 1 });
  });

  test('is cancelled and waits until its own definition is deployed again and undoes it', async () => {
    const runId = await world.start('work');
    await world.run(() => isAsleep(runId));
    const changed = deployed(other);
    await cancelRun(changed, { runId, tenantId: 't1', actor: 'c.ops', stopKind: 'user' });
    await world.run(() => snapshotOf(runId)?.parked !== undefined, changed);
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'waiting_external',
      parked: 'PLAN_CHANGED',
    });
    expect(ran).toEqual(['before']);
    await world.run(() => false, deployed(old));
    expect(assertStored(world.db, runId).status).toBe('cancelled');
    expect(ran).toEqual(['before', 'undo before']);
  });

  test('without a fingerprint uses the stored plan of its version, if there is one', async () => {
    const runId = await world.start('work');
    await world.run(() => isAsleep(runId));
    const run = world.db.runs.get(runId);
    if (!run) throw new Error('no run');
    const { planFingerprint: _, ...before } = run.snapshot;
    run.snapshot = before;
    const until = world.clock.now() + 3 * 3_600_000;
    await world.run(() => world.clock.now() >= until, deployed(other));
    expect(ran).toEqual(['before']);
    world.db.plans.clear();
    await world.run(() => ran.length > 1, deployed(other));
    expect(ran).toEqual(['before', 'mail']);
  });
});
