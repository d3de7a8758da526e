import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CONFIG_AGE_MS, DEFER_MS } from '../../../packages/cairn/src/engine/admission.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import type { RuntimeDeps } from '../../../packages/cairn/src/operations/runtime/change-config.ts';
import { setKillSwitch } from '../../../packages/cairn/src/operations/runtime/kill-switch.ts';
import {
  pauseWorkflow,
  unpauseWorkflow,
} from '../../../packages/cairn/src/operations/runtime/pause-workflow.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { intercept } from '../../support/intercept.ts';
import { dieDuring } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

const HOUR_MS = 3_600_000;

/** Records of its bodies, and the gate at which the middle one waits. */
interface Watched {
  readonly ran: string[];
  readonly inMiddle: PromiseWithResolvers<void>;
}

function watched(idempotent: boolean) {
  const seen: Watched = { ran: [], inMiddle: Promise.withResolvers() };
  const workflow = defineWorkflow({
    type: 'work',
    planVersion: 1,
    input: z.object({ nap: z.boolean().default(false) }),
    steps(step) {
      const first = step('first', () => {
        seen.ran.push('first');
        return 1;
      });
      const nap = step.sleep('nap', { needs: { first }, when: ({ input }) => input.nap, for: '10m' });
      const middle = step(
        'middle',
        { needs: { first, nap }, ifSkipped: 'run', idempotent, timeout: '5m' },
        async () => {
          seen.ran.push('middle');
          await seen.inMiddle.promise;
          return 2;
        },
      );
      const last = step('last', { needs: { middle } }, ({ middle }) => {
        seen.ran.push('last');
        return middle;
      });
      return { last };
    },
  });
  const other = defineWorkflow({
    type: 'other',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ done: step('do', () => 'done') }),
  });
  return { seen, workflows: [workflow, other] };
}

let seen: Watched;
let world: World;
let deps: RuntimeDeps;

function build(idempotent = true) {
  const made = watched(idempotent);
  seen = made.seen;
  world = new World({ workflows: made.workflows });
  deps = { ...world.deps, config: world.config, statistics: world.statistics };
}
beforeEach(() => build());

type Switch = 'kill switch' | 'pause';
const SWITCHES: readonly Switch[] = ['kill switch', 'pause'];

async function close(what: Switch): Promise<void> {
  if (what === 'pause') await pauseWorkflow(deps, { type: 'work', actor: 'c.ops', tenantId: 't1' });
  else await setKillSwitch(deps, { on: true, actor: 'c.ops', tenantId: 't1' });
  world.clock.jump(CONFIG_AGE_MS);
}

function open(what: Switch): Promise<{ readonly woken: number }> {
  return what === 'pause'
    ? unpauseWorkflow(deps, { type: 'work', actor: 'c.ops', tenantId: 't1' })
    : setKillSwitch(deps, { on: false, actor: 'c.ops', tenantId: 't1' });
}

const status = (runId: string) => world.db.runs.get(runId)?.snapshot.status;
const head = (runId: string) => world.db.runs.get(runId)?.events.length;

/** Lets an hour go by in which tasks are delivered and the scan ticks. */
async function anHour(): Promise<void> {
  const until = world.clock.now() + HOUR_MS;
  await world.run(() => world.clock.now() >= until);
  if (world.clock.now() < until) world.clock.jump(until - world.clock.now());
}

describe.each(SWITCHES)('under the %s', (what) => {
  test('a new run stays pending, and runs to its end when the gate opens', async () => {
    await close(what);
    const runId = await world.start('work');
    seen.inMiddle.resolve();
    await anHour();
    expect(status(runId)).toBe('pending');
    expect(await world.eventTypes(runId)).toEqual(['run_created']);
    expect(await open(what)).toEqual({ woken: 1 });
    const openedAt = world.clock.now();
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: '{"last":2}' },
    });
    expect(world.clock.now()).toBe(openedAt);
    expect(seen.ran).toEqual(['first', 'middle', 'last']);
  });

  test('a drive reports it, and appends nothing', async () => {
    const runId = await world.start('work');
    await close(what);
    expect(await drive(world.deps, { runId })).toBe('deferred');
    expect(head(runId)).toBe(1);
  });

  test('a sleep that is over meanwhile ends when the gate opens', async () => {
    const runId = await world.start('work', { nap: true });
    seen.inMiddle.resolve();
    await world.run(() => status(runId) === 'waiting_external');
    await close(what);
    const before = head(runId);
    await anHour();
    expect(head(runId)).toBe(before);
    await open(what);
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('completed');
    expect(seen.ran).toEqual(['first', 'middle', 'last']);
  });

  test('a running drive starts nothing new and hands over, and ended steps count', async () => {
    const runId = await world.start('work');
    void world.run();
    await settle();
    expect(seen.ran).toEqual(['first', 'middle']);
    await close(what);
    while (world.db.runs.get(runId)?.snapshot.lease) {
      expect(world.clock.fireNext()).toBe(true);
      await settle();
    }
    seen.inMiddle.resolve();
    await anHour();
    expect(status(runId)).toBe('running');
    const before = head(runId);
    await open(what);
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed', interruptions: 0 });
    expect(head(runId)).toBeGreaterThan(before ?? 0);
    expect(seen.ran.filter((step) => step === 'first')).toHaveLength(1);
    expect(seen.ran.filter((step) => step === 'last')).toHaveLength(1);
  });

  test.each([true, false])('a running step may end (idempotent: %s)', async (idempotent) => {
    build(idempotent);
    const runId = await world.start('work');
    void world.run();
    await settle();
    await close(what);
    const closedAt = world.clock.now();
    while (world.clock.now() < closedAt + 60_000) {
      expect(world.clock.fireNext()).toBe(true);
      await settle();
    }
    seen.inMiddle.resolve();
    await anHour();
    expect(world.db.runs.get(runId)?.snapshot.lease).toBeUndefined();
    expect(seen.ran).toEqual(['first', 'middle']);
    expect((await world.eventTypes(runId)).slice(-2)).toEqual(['step_succeeded', 'run_released']);
    await open(what);
    await world.run();
    const { status: end, result } = assertStored(world.db, runId);
    expect([end, result]).toEqual(['completed', { text: '{"last":2}' }]);
    expect(seen.ran).toEqual(['first', 'middle', 'last']);
  });

  test('a run whose drive died is left alone, and recovered when the gate opens', async () => {
    const runId = await world.start('work');
    world.queue.take();
    await dieDuring(world.deps, { runId });
    await close(what);
    const before = head(runId);
    await anHour();
    expect(head(runId)).toBe(before);
    seen.inMiddle.resolve();
    await open(what);
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed', resumeCount: 1 });
  });

  test('a run can be cancelled, and ends at once', async () => {
    await close(what);
    const runId = await world.start('work');
    await anHour();
    const cancelled = await cancelRun(world.deps, {
      runId,
      tenantId: 't1',
      actor: 'c.ops',
      stopKind: 'user',
    });
    expect(cancelled.status).toBe('cancelled');
    expect(assertStored(world.db, runId).status).toBe('cancelled');
    await open(what);
    await world.run();
    expect(seen.ran).toEqual([]);
  });

  test('a gate that opens while a drive defers a run loses nothing', async () => {
    await close(what);
    const runId = await world.start('work');
    world.queue.take();
    seen.inMiddle.resolve();
    const store = intercept(world.store, async ({ method }, proceed) => {
      if (method === 'touch') await open(what);
      return proceed();
    });
    expect(await drive({ ...world.deps, store }, { runId })).toBe('deferred');
    expect(world.db.runs.get(runId)?.wakeAt).toBeGreaterThan(world.clock.now() + DEFER_MS / 2);
    const openedAt = world.clock.now();
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('completed');
    expect(world.clock.now()).toBe(openedAt);
  });

  test('runs that were not enqueued at the opening are found by the scan within five minutes', async () => {
    await close(what);
    const runId = await world.start('work');
    seen.inMiddle.resolve();
    await anHour();
    const queue = { enqueue: () => Promise.reject(new Error('queue')) };
    deps = { ...deps, queue };
    expect(await open(what)).toEqual({ woken: 0 });
    const openedAt = world.clock.now();
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('completed');
    expect(world.clock.now() - openedAt).toBeLessThanOrEqual(DEFER_MS);
  });
});

describe('the scan', () => {
  test('under the kill switch only reports it, and finds everything afterwards', async () => {
    const runId = await world.start('work');
    world.queue.take();
    world.clock.jump(120_000);
    await setKillSwitch(deps, { on: true, actor: 'c.ops', tenantId: 't1' });
    const version = world.db.runs.get(runId)?.version;
    const received: string[] = [];
    const log = { ...world.deps.log, warn: (event: string) => void received.push(event) };
    expect(await scan({ ...world.deps, log })).toMatchObject({ off: true, found: 0 });
    expect(received).toEqual(['recovery_scan_off']);
    expect(world.db.runs.get(runId)?.version).toBe(version);
    await setKillSwitch(
      { ...deps, queue: { enqueue: () => Promise.reject(new Error('x')) } },
      { on: false, actor: 'c.ops', tenantId: 't1' },
    );
    expect(await scan(world.deps)).toMatchObject({ off: false, found: 1, enqueued: 1 });
  });

  test('defers the runs of a paused workflow, and no others', async () => {
    const held = await world.start('work');
    const other = await world.start('other');
    world.queue.take();
    world.queue.take();
    world.clock.jump(120_000);
    await pauseWorkflow(deps, { type: 'work', actor: 'c.ops', tenantId: 't1' });
    expect(await scan(world.deps)).toMatchObject({ found: 2, deferred: 1, enqueued: 1 });
    expect(world.queue.due(world.clock.now()).map(({ runId }) => runId)).toEqual([other]);
    const now = world.clock.now();
    expect(world.db.runs.get(held)?.wakeAt).toBeGreaterThan(now + DEFER_MS / 2);
  });

  test('does nothing while the switches cannot be read', async () => {
    await world.start('work');
    world.clock.jump(120_000);
    const runtime = { current: () => Promise.reject(new Error('undecodable')) };
    await expect(scan({ ...world.deps, runtime })).rejects.toThrow('undecodable');
  });
});

test('does not delay other workflows for a paused one', async () => {
  await pauseWorkflow(deps, { type: 'work', actor: 'c.ops', tenantId: 't1' });
  const held = await world.start('work');
  const other = await world.start('other');
  await world.run(() => status(other) === 'completed');
  expect([status(held), status(other)]).toEqual(['pending', 'completed']);
});
