import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { PauseMark } from '../../packages/cairn/src/core/schedule/schedule.ts';
import { DEFER_MS } from '../../packages/cairn/src/engine/admission.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type { RuntimeDeps } from '../../packages/cairn/src/operations/runtime/change-config.ts';
import { setKillSwitch } from '../../packages/cairn/src/operations/runtime/kill-switch.ts';
import {
  pauseWorkflow,
  unpauseWorkflow,
} from '../../packages/cairn/src/operations/runtime/pause-workflow.ts';
import { beginRestore } from '../../packages/cairn/src/operations/runtime/restore.ts';
import { MAX_READ, MAX_WOKEN } from '../../packages/cairn/src/operations/runtime/wake-paused.ts';
import type { RuntimeConfigStore } from '../../packages/cairn/src/ports/runtime-config.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { type InterceptedCall, intercept, type Proceed } from '../support/intercept.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

const one = (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ done: step('do', () => 1) }),
  });
const workflows = [one('alpha'), one('beta'), one('constructor')];

let world: World;
let deps: RuntimeDeps;
beforeEach(() => {
  world = new World({ workflows });
  const { config, statistics } = world;
  deps = { ...world.deps, config, statistics };
});

async function current() {
  return (await world.config.read())?.config;
}

/** Waits for work that pauses between its attempts. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  ended.catch(() => {});
  for (let turn = 0; turn < 200 && !over; turn += 1) {
    await settle();
    if (!over) world.clock.fireNext();
  }
  return ended;
}

describe('pausing a workflow', () => {
  test('leaves a mark with author, time and reason', async () => {
    const since = world.clock.now();
    const mark = { since, by: 'c.ops', reason: 'wrong labels' };
    expect(
      await pauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1', reason: 'wrong labels' }),
    ).toEqual(mark);
    expect(await pauseWorkflow(deps, { type: 'constructor', actor: 'c.ops', tenantId: 't1' })).toEqual({
      since,
      by: 'c.ops',
    });
    expect(await current()).toEqual({
      killSwitch: false,
      paused: new Map<string, PauseMark>([
        ['alpha', mark],
        ['constructor', { since, by: 'c.ops' }],
      ]),
    });
  });

  test('twice changes nothing: the first mark is kept and returned', async () => {
    const first = await pauseWorkflow(deps, {
      type: 'alpha',
      actor: 'c.one',
      tenantId: 't1',
      reason: 'first',
    });
    const stored = await world.config.read();
    world.clock.jump(60_000);
    expect(
      await pauseWorkflow(deps, { type: 'alpha', actor: 'c.two', tenantId: 't1', reason: 'second' }),
    ).toEqual(first);
    expect(await world.config.read()).toEqual(stored);
  });

  test('is refused for a workflow that is not deployed', async () => {
    await expect(
      pauseWorkflow(deps, { type: 'gamma', actor: 'c.ops', tenantId: 't1' }),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(
      unpauseWorkflow(deps, { type: 'gamma', actor: 'c.ops', tenantId: 't1' }),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await world.config.read()).toBeUndefined();
  });

  test('can be undone for a workflow that is no longer deployed, also if the answer is lost', async () => {
    await pauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1' });
    let lost = 1;
    const config = intercept<RuntimeConfigStore>(world.config, async ({ method }, proceed) => {
      const answer = await proceed();
      if (method === 'write' && lost-- > 0) throw new OutcomeUnknown('write', 'gone');
      return answer;
    });
    const registry = new WorkflowRegistry([one('beta')]);
    await inTime(
      unpauseWorkflow({ ...deps, config, registry }, { type: 'alpha', actor: 'c.ops', tenantId: 't1' }),
    );
    expect(await current()).toEqual({ killSwitch: false, paused: new Map() });
  });
});

describe('concurrent changes', () => {
  test('of different switches all take effect', async () => {
    await Promise.all([
      pauseWorkflow(deps, { type: 'alpha', actor: 'c.1', tenantId: 't1' }),
      setKillSwitch(deps, { on: true, actor: 'c.2', tenantId: 't1' }),
      pauseWorkflow(deps, { type: 'beta', actor: 'c.3', tenantId: 't1' }),
    ]);
    const config = await current();
    expect(config?.killSwitch).toBe(true);
    expect([...(config?.paused.keys() ?? [])].sort()).toEqual(['alpha', 'beta']);
  });

  test('of one switch leave one mark, which every caller receives', async () => {
    const actors = ['c.1', 'c.2', 'c.3', 'c.4', 'c.5'];
    const marks = await Promise.all(
      actors.map((actor) => pauseWorkflow(deps, { type: 'alpha', actor, tenantId: 't1' })),
    );
    expect(new Set(marks.map(({ by }) => by)).size).toBe(1);
    expect((await current())?.paused.get('alpha')).toEqual(marks[0]);
  });

  test.each([
    ['before it was applied', false],
    ['after it was applied', true],
  ])('take effect once though the store fails %s', async (_when, applied) => {
    for (const dying of ['read', 'write']) {
      world = new World({ workflows });
      let deaths = 3;
      const around = async ({ method }: InterceptedCall, proceed: Proceed) => {
        if (method !== dying || deaths-- <= 0) return proceed();
        if (applied) await proceed();
        throw new OutcomeUnknown(method, 'gone');
      };
      const { clock, random } = world.deps;
      const config = intercept<RuntimeConfigStore>(world.config, around);
      const mark = await inTime(
        pauseWorkflow({ ...deps, clock, random, config }, { type: 'alpha', actor: 'c.ops', tenantId: 't1' }),
      );
      expect((await world.config.read())?.config.paused).toEqual(new Map([['alpha', mark]]));
    }
  });

  test('to a store that never answers are refused, and must be sent again', async () => {
    const config = intercept<RuntimeConfigStore>(world.config, () =>
      Promise.reject(new OutcomeUnknown('read', 'gone')),
    );
    await expect(
      inTime(setKillSwitch({ ...deps, config }, { on: true, actor: 'c.ops', tenantId: 't1' })),
    ).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('unpausing', () => {
  /** Starts runs whose first tasks are lost. */
  async function starts(type: string, count: number): Promise<string[]> {
    const runIds: string[] = [];
    for (let i = 0; i < count; i += 1) runIds.push(await world.start(type));
    for (const { id } of world.queue.due(world.clock.now())) world.queue.take(id);
    return runIds.sort();
  }
  const enqueued = () =>
    world.queue
      .due(world.clock.now())
      .map(({ runId }) => runId)
      .sort();

  test('of a workflow enqueues its runs, and no others', async () => {
    await pauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1' });
    const [alphas] = [await starts('alpha', 3), await starts('beta', 2)];
    expect(await unpauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1' })).toEqual({
      woken: 3,
    });
    expect(enqueued()).toEqual(alphas);
  });

  test('enqueues the runs of every tenant, and counts only those of the caller', async () => {
    const alphas = await starts('alpha', 3);
    const request = { type: 'alpha', actor: 'c.ops' };
    expect(await unpauseWorkflow(deps, { ...request, tenantId: 't2' })).toEqual({ woken: 0 });
    expect(enqueued()).toEqual(alphas);
    expect(await setKillSwitch(deps, { on: false, actor: 'c.ops', tenantId: 't2' })).toEqual({ woken: 0 });
  });

  test('twice enqueues the runs that are still held, because the first caller may have died', async () => {
    const alphas = await starts('alpha', 3);
    expect(await unpauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1' })).toEqual({
      woken: 3,
    });
    expect(enqueued()).toEqual(alphas);
  });

  test('enqueues nothing under the kill switch', async () => {
    await starts('alpha', 3);
    await setKillSwitch(deps, { on: true, actor: 'c.ops', tenantId: 't1' });
    expect(await unpauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1' })).toEqual({
      woken: 0,
    });
    expect(enqueued()).toEqual([]);
  });

  test('everything enqueues the runs of workflows that are not paused', async () => {
    await starts('alpha', 2);
    const betas = await starts('beta', 3);
    await pauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1' });
    expect(await setKillSwitch(deps, { on: true, actor: 'c.ops', tenantId: 't1' })).toEqual({ woken: 0 });
    expect(await setKillSwitch(deps, { on: false, actor: 'c.ops', tenantId: 't1' })).toEqual({ woken: 3 });
    expect(enqueued()).toEqual(betas);
  });

  test('reads page after page, up to a limit', async () => {
    const entries = Array.from({ length: MAX_WOKEN + 700 }, (_, i) => ({
      runId: `run_${i}`,
      tenantId: 't1',
      type: 'alpha',
      wakeAt: world.clock.now() + i,
    }));
    let pages = 0;
    const statistics: RuntimeDeps['statistics'] = {
      liveVersions: async () => [],
      activeRuns: async () => [],
      tenants: async () => [],
      due: async ({ after, until, limit }) => {
        pages += 1;
        expect(until).toBe(world.clock.now() + DEFER_MS);
        const from = after ? entries.indexOf(after) + 1 : 0;
        return entries.slice(from, from + limit);
      },
    };
    expect(
      await unpauseWorkflow({ ...deps, statistics }, { type: 'alpha', actor: 'c.ops', tenantId: 't1' }),
    ).toEqual({
      woken: MAX_WOKEN,
    });
    expect(pages).toBe(20);
    expect(new Set(enqueued()).size).toBe(MAX_WOKEN);
  });

  test('reads a limited number of runs whose workflow is still paused', async () => {
    await pauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1' });
    await setKillSwitch(deps, { on: true, actor: 'c.ops', tenantId: 't1' });
    let read = 0;
    const statistics: RuntimeDeps['statistics'] = {
      liveVersions: async () => [],
      activeRuns: async () => [],
      tenants: async () => [],
      due: async ({ limit }) => {
        read += limit;
        if (read > 3 * MAX_READ) throw new Error('reads without end');
        return Array.from({ length: limit }, (_, i) => ({
          runId: `run_${read}_${i}`,
          tenantId: 't1',
          type: 'alpha',
          wakeAt: world.clock.now(),
        }));
      },
    };
    const off = { on: false, actor: 'c.ops', tenantId: 't1' };
    expect(await setKillSwitch({ ...deps, statistics }, off)).toEqual({ woken: 0 });
    expect(read).toBe(MAX_READ);
    expect(enqueued()).toEqual([]);
  });

  test('succeeds although the queue fails: the scan finds the remaining runs', async () => {
    await pauseWorkflow(deps, { type: 'alpha', actor: 'c.ops', tenantId: 't1' });
    await starts('alpha', 3);
    const queue = { enqueue: () => Promise.reject(new Error('queue')) };
    expect(
      await unpauseWorkflow({ ...deps, queue }, { type: 'alpha', actor: 'c.ops', tenantId: 't1' }),
    ).toEqual({
      woken: 0,
    });
    expect(await current()).toEqual({ killSwitch: false, paused: new Map() });
  });
});

test.each(['the kill switch', 'a pause'])(
  'the end of %s enqueues nothing while the installation is paused after a restore',
  async (what) => {
    await world.start('alpha');
    const ops = { actor: 'c.ops', tenantId: 't1' };
    await beginRestore({ ...deps, home: 'projects/p/databases/d' }, ops);
    const tasks = world.queue.due(world.clock.now()).length;
    const ended =
      what === 'a pause'
        ? await unpauseWorkflow(deps, { type: 'alpha', ...ops })
        : await setKillSwitch(deps, { on: false, ...ops });
    expect(ended).toEqual({ woken: 0 });
    expect(world.queue.due(world.clock.now())).toHaveLength(tasks);
  },
);
