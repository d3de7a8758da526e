import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { optional } from '../../../packages/cairn/src/core/optional.ts';
import { LONGEST_CHECK_MS } from '../../../packages/cairn/src/core/run/wake.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { dieDuring } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

/** The versions whose bodies ran, in order. */
let ran: string[];
let hangs: boolean;

/** A version that sleeps between two steps, and returns its number. */
function version(planVersion: number) {
  return defineWorkflow({
    type: 'work',
    planVersion,
    input: z.object({}),
    steps(step) {
      const before = step('before', () => {
        ran.push(`before@${planVersion}`);
        return hangs ? new Promise<number>(() => {}) : planVersion;
      });
      const nap = step.sleep('nap', { needs: { before }, for: '1h' });
      const after = step('after', { needs: { before, nap } }, ({ before }) => {
        ran.push(`after@${planVersion}`);
        return before;
      });
      return { after };
    },
  });
}

const [one, two, three] = [version(1), version(2), version(3)];

let world: World;
beforeEach(() => {
  ran = [];
  hangs = false;
  world = new World({ workflows: [one] });
});

/** The same installation after a deployment of these versions. */
function deployed(...workflows: readonly ReturnType<typeof version>[]): EngineDeps {
  return { ...world.deps, registry: new WorkflowRegistry(workflows) };
}

const snapshotOf = (runId: string) => world.db.runs.get(runId)?.snapshot;
const isBlocked = (runId: string) => snapshotOf(runId)?.parked === 'PLAN_VERSION_UNAVAILABLE';
const isAsleep = (runId: string) => (snapshotOf(runId)?.waits.length ?? 0) > 0 && !snapshotOf(runId)?.lease;

test('with several versions registered a new run gets the newest, and each run keeps its own', async () => {
  const old = await world.start('work');
  await world.run(() => isAsleep(old));
  const both = deployed(two, one);
  const young = await world.start('work', {}, { workflow: both.registry.newest('work') ?? one });
  await world.run(() => false, both);
  expect(assertStored(world.db, old)).toMatchObject({ planVersion: 1, result: { text: '{"after":1}' } });
  expect(assertStored(world.db, young)).toMatchObject({ planVersion: 2, result: { text: '{"after":2}' } });
  expect(ran).toEqual(['before@1', 'before@2', 'after@1', 'after@2']);
});

describe('a run whose version is not deployed', () => {
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
  ])('and %s is blocked, and continues by itself when the version is deployed again', async (_what, get) => {
    const runId = await world.start('work');
    await get(runId);
    const others = deployed(two, three);
    const { status } = snapshotOf(runId) ?? {};
    // A sleeping run keeps its wait unchanged. Any other run records that it waits for its version.
    if (status === 'waiting_external') {
      const until = world.clock.now() + 3 * 3_600_000;
      await world.run(() => world.clock.now() >= until, others);
      expect(snapshotOf(runId)?.status).toBe('waiting_external');
    } else {
      await world.run(() => isBlocked(runId), others);
      expect(snapshotOf(runId)).toMatchObject({
        status: 'waiting_external',
        parked: 'PLAN_VERSION_UNAVAILABLE',
      });
      expect(await drive(others, { runId })).toBe('waiting');
    }
    expect(ran.filter((step) => !step.endsWith('@1'))).toEqual([]);

    const again = deployed(three, one);
    const deployedAt = world.clock.now();
    const { head } = await world.folded(runId);
    const moved = () => (world.db.runs.get(runId)?.events.length ?? 0) > head;
    await world.run(moved, again);
    expect(world.clock.now() - deployedAt).toBeLessThanOrEqual(LONGEST_CHECK_MS);
    await world.run(() => false, again);
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      planVersion: 1,
      result: { text: '{"after":1}' },
    });
    expect(ran.at(-1)).toBe('after@1');
  });

  test('is checked every ten minutes, and appends no event while the version is missing', async () => {
    const runId = await world.start('work');
    const others = deployed(two);
    await world.run(() => isBlocked(runId), others);
    const { head } = await world.folded(runId);
    for (let look = 0; look < 6; look += 1) {
      world.clock.jump(LONGEST_CHECK_MS);
      expect(await scan(others)).toMatchObject({ found: 1, enqueued: 0, recovered: 0, failed: 0 });
      expect(await scan(others)).toMatchObject({ found: 0 });
    }
    expect((await world.folded(runId)).head).toBe(head);
  });

  test.each([
    ['with a deadline', '6h'],
    ['without one', undefined],
  ] as const)('and that waits for an event %s receives one that came meanwhile', async (_, timeout) => {
    const waits = defineWorkflow({
      type: 'work',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        sent: step.event('go', { event: 'go', key: () => 'k', ...optional('timeout', timeout) }),
      }),
    });
    world = new World({ workflows: [waits] });
    const runId = await world.start('work');
    await world.run(() => isAsleep(runId));
    const others = deployed(two);
    const sent = { tenantId: 't1', event: 'go', key: 'k', eventId: 'e1', data: 7, actor: 'c.ci' };
    expect(await deliverEvent(others, sent)).toMatchObject({ kept: true, refused: [{ runId }] });
    const { head } = await world.folded(runId);
    const back = world.clock.now() + 3 * 3_600_000;
    await world.run(() => world.clock.now() >= back, others);
    expect((await world.folded(runId)).head).toBe(head);
    await world.run(() => snapshotOf(runId)?.status === 'completed');
    expect(world.clock.now() - back).toBeLessThanOrEqual(LONGEST_CHECK_MS);
    expect(assertStored(world.db, runId).result).toEqual({ text: '{"sent":7}' });
  });

  test('can be cancelled at once after completed steps, since its stored plan has no compensations', async () => {
    const runId = await world.start('work');
    await world.run(() => isAsleep(runId));
    const others = deployed(two);
    const request = { runId, tenantId: 't1', actor: 'c.ops', stopKind: 'user' } as const;
    expect(await cancelRun(others, request)).toMatchObject({ status: 'cancelled' });
    expect(ran).toEqual(['before@1']);
  });

  test('waits after a cancel if it is unknown whether it has compensations', async () => {
    const runId = await world.start('work');
    await world.run(() => isAsleep(runId));
    world.db.plans.clear();
    const others = deployed(two);
    const request = { runId, tenantId: 't1', actor: 'c.ops', stopKind: 'user' } as const;
    expect(await cancelRun(others, request)).toMatchObject({ status: 'cancelling' });
    expect(await cancelRun(others, { ...request, withoutUndo: true })).toMatchObject({ status: 'cancelled' });
  });

  test('can be cancelled', async () => {
    const runId = await world.start('work');
    const others = deployed(two);
    await world.run(() => isBlocked(runId), others);
    await cancelRun(others, { runId, tenantId: 't1', actor: 'c.ops', stopKind: 'user' });
    await world.run(() => false, others);
    expect(assertStored(world.db, runId).status).toBe('cancelled');
    expect(ran).toEqual([]);
  });
});
