import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { LOCAL_SETTINGS, PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { driveRequestOf } from '../../../packages/cairn/src/memory/memory-task-queue.ts';
import { GRPC_STATUS } from '../../../packages/cairn/src/ports/grpc-outcome.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { longestSilence } from '../../core/recovery/longest-silence.ts';
import { intercept } from '../../support/intercept.ts';
import { mortal } from '../../support/mortal.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

const TICK_MS = 60_000;
const { leaseMs, heartbeatMs } = PRODUCTION_SETTINGS;

/** Documented in docs/scale.md. */
const CONTINUES_WITHIN_MS = 90_000;

test('a lease outlasts three heartbeats, and a run whose worker and task are lost continues within 90 s', () => {
  for (const settings of [PRODUCTION_SETTINGS, LOCAL_SETTINGS])
    expect(settings.leaseMs).toBeGreaterThan(3 * settings.heartbeatMs);
  expect(longestSilence(PRODUCTION_SETTINGS, TICK_MS)).toBeLessThanOrEqual(CONTINUES_WITHIN_MS);
});

/** A run whose one step waits for ever, under the settings of a deployment, in time that a test moves. */
class Watched {
  readonly world: World;
  readonly begunAt: number[] = [];
  runId = '';
  #nextTickAt: number;
  #dispatched: string[] = [];

  /** @param firstTickMs from the start to the first tick of the scan */
  constructor(firstTickMs = 0) {
    const workflow = defineWorkflow({
      type: 'silent',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        held: step('held', { timeout: '6m' }, () => {
          this.begunAt.push(this.now);
          return new Promise<string>(() => {});
        }),
      }),
    });
    this.world = new World({ workflows: [workflow], settings: PRODUCTION_SETTINGS });
    this.#nextTickAt = this.now + firstTickMs;
  }

  get now(): number {
    return this.world.clock.now();
  }

  /** Ends of the dispatches since the last call. */
  takeEnds(): string[] {
    const ends = this.#dispatched;
    this.#dispatched = [];
    return ends;
  }

  /** Starts the run and takes its only task, as a worker that may die. */
  async begin() {
    this.runId = await this.world.start('silent');
    const task = this.world.queue.take();
    if (!task) throw new Error('no task');
    const worker = mortal(this.world.deps, 50);
    void drive(worker.deps, driveRequestOf(task));
    await settle();
    expect(this.begunAt).toHaveLength(1);
    return worker;
  }

  /** Moves time by timers, tasks and, each minute, a tick of the scan. */
  async pass(ms: number, isOver: () => boolean = () => false): Promise<void> {
    const { clock, queue, deps } = this.world;
    const until = this.now + ms;
    while (!isOver()) {
      await settle();
      const taskAt = Math.max(this.now, queue.nextAt() ?? Number.POSITIVE_INFINITY);
      const next = Math.min(clock.nextAt ?? Number.POSITIVE_INFINITY, taskAt, this.#nextTickAt);
      if (next > until) break;
      if (next > this.now && !clock.fireNext(next)) clock.jump(next - this.now);
      else clock.fireNext(this.now);
      for (const task of queue.due(this.now)) {
        queue.take(task.id);
        void drive(deps, driveRequestOf(task)).then((end) => this.#dispatched.push(end));
        await settle();
      }
      if (this.now >= this.#nextTickAt) {
        this.#nextTickAt += TICK_MS;
        await scan(deps);
      }
    }
    if (!isOver() && until > this.now) clock.jump(until - this.now);
  }
}

describe('a run whose worker died and whose task is lost', () => {
  // Deaths right after a heartbeat, between two, and right before one; ticks at any time of the minute.
  const deaths = [25_001, 37_000, 49_999].flatMap((diesAfter) =>
    Array.from({ length: 12 }, (_, i) => [diesAfter, i * 5_000] as const),
  );

  test('begins its step again within the bound, whenever it dies and whenever the scan ticks', async () => {
    const silences: number[] = [];
    for (const [diesAfter, phaseMs] of deaths) {
      const watched = new Watched(phaseMs);
      const worker = await watched.begin();
      await watched.pass(diesAfter);
      worker.kill();
      const diedAt = watched.now;
      await watched.pass(5 * TICK_MS, () => watched.begunAt.length > 1);
      silences.push((watched.begunAt[1] ?? Number.POSITIVE_INFINITY) - diedAt);
    }
    expect(Math.max(...silences)).toBeLessThanOrEqual(longestSilence(PRODUCTION_SETTINGS, TICK_MS));
    // Most are dispatched when their lease ends: without watching, they would be found up to a minute later.
    expect(Math.min(...silences)).toBeLessThan(leaseMs);
  });

  test('is dispatched once, however many ticks miss its heartbeat', async () => {
    const watched = new Watched(TICK_MS);
    const worker = await watched.begin();
    worker.kill();
    watched.world.clock.jump(heartbeatMs + 5_000);
    const { deps, queue } = watched.world;
    const reports = [await scan(deps), await scan(deps), ...(await Promise.all([scan(deps), scan(deps)]))];
    for (const report of reports) expect(report).toMatchObject({ found: 0, watched: 1 });
    expect(queue.pending).toMatchObject([
      { runId: watched.runId, reason: 'lease_expiry', watches: true, tenantId: 't1' },
    ]);
  });

  test('is left to the normal scan if the query fails, for example while its index is being built', async () => {
    const watched = new Watched();
    const { world } = watched;
    const worker = await watched.begin();
    worker.kill();
    const other = await world.start('silent');
    world.queue.take();
    world.clock.jump(TICK_MS + 1);
    const building = Object.assign(new Error('The query requires an index.'), {
      code: GRPC_STATUS.FAILED_PRECONDITION,
    });
    const store = intercept(world.store, ({ method }, proceed) =>
      method === 'silentRuns' ? Promise.reject(building) : proceed(),
    );
    expect(await scan({ ...world.deps, store })).toMatchObject({ found: 1, enqueued: 1, watched: 0 });
    expect(world.queue.take()).toMatchObject({ runId: other });
    world.clock.jump(leaseMs);
    expect(await scan({ ...world.deps, store })).toMatchObject({ found: 2, recovered: 1 });
  });

  test('is not watched while its workflow is paused', async () => {
    const watched = new Watched();
    const { world } = watched;
    const worker = await watched.begin();
    worker.kill();
    const paused = new Map([['silent', { since: watched.now, by: 'u1' }]]);
    await world.config.write({ killSwitch: false, paused }, undefined);
    world.clock.jump(heartbeatMs + 5_000);
    expect(await scan(world.deps)).toMatchObject({ watched: 0 });
    expect(world.queue.pending).toEqual([]);
  });
});

describe('a run whose worker lives', () => {
  test('is never watched, however long its step takes', async () => {
    for (const phaseMs of [0, 24_000, 25_000, 26_000, 49_000]) {
      const watched = new Watched(phaseMs);
      await watched.begin();
      await watched.pass(5 * TICK_MS);
      expect(watched.world.queue.pending).toEqual([]);
      expect(watched.takeEnds()).toEqual([]);
      expect(watched.begunAt).toHaveLength(1);
    }
  });

  test('and was silent for a while costs one dispatch that only reads it', async () => {
    const watched = new Watched(TICK_MS);
    const { world } = watched;
    await watched.begin();
    // Its process stood still for longer than a heartbeat.
    world.clock.jump(heartbeatMs + 5_000);
    expect(await scan(world.deps)).toMatchObject({ watched: 1 });
    await watched.pass(leaseMs - heartbeatMs - 10_000);
    const [task] = world.queue.pending;
    if (!task) throw new Error('no task');
    expect(task.at).toBeGreaterThan(watched.now);
    world.clock.jump((task.at ?? 0) - watched.now);
    const calls: string[] = [];
    const store = intercept(world.store, ({ method }, proceed) => {
      calls.push(method);
      return proceed();
    });
    world.queue.take(task.id);
    expect(await drive({ ...world.deps, store }, driveRequestOf(task))).toBe('leased');
    expect(calls).toEqual(['load']);
    expect(world.queue.pending).toEqual([]);
    expect(watched.begunAt).toHaveLength(1);
  });
});

test('a run that rests between two attempts is not watched, because it has no heartbeat', async () => {
  let calls = 0;
  const workflow = defineWorkflow({
    type: 'resting',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      fails: step('fails', { retry: { maxAttempts: 3, initialMs: 600_000, capMs: 600_000 } }, () => {
        calls += 1;
        throw new Error('not yet');
      }),
    }),
  });
  const world = new World({ workflows: [workflow], settings: PRODUCTION_SETTINGS });
  const runId = await world.start('resting');
  const task = world.queue.take();
  if (!task) throw new Error('no task');
  await drive(world.deps, driveRequestOf(task));
  expect({ calls, status: world.stateOf(runId).status }).toEqual({ calls: 1, status: 'running' });
  const pending = world.queue.pending.length;
  world.clock.jump(heartbeatMs + 5_000);
  expect(await scan(world.deps)).toMatchObject({ found: 0, watched: 0 });
  expect(world.queue.pending).toHaveLength(pending);
});
