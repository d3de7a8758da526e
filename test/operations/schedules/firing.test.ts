import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { CatchUp } from '../../../packages/cairn/src/core/schedule/schedule.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { setKillSwitch } from '../../../packages/cairn/src/operations/runtime/kill-switch.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../../packages/cairn/src/testing/world/intercept.ts';
import { TICK_MS, tick } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import { NEWER } from '../../support/world.ts';
import { echo, MINUTE, Scene, stored, T0, TENANT } from './scene.ts';

async function sceneOf(...schedules: readonly ReturnType<typeof stored>[]): Promise<Scene> {
  const scene = new Scene();
  for (const schedule of schedules) await scene.deps.schedules.create(schedule);
  return scene;
}

describe('a slot', () => {
  test('becomes one run, which has its slot and its trigger', async () => {
    const scene = await sceneOf(stored({ input: { text: 'hello' } }));
    expect(await scene.tickAt(4)).toMatchObject({ due: 0, fired: 0 });
    expect(await scene.tickAt(5.5)).toEqual({
      due: 1,
      fired: 1,
      skipped: 0,
      refused: 0,
      failed: 0,
      isCut: false,
    });
    expect(await scene.tickAt(6)).toMatchObject({ due: 0, fired: 0 });
    await scene.world.run();
    const [run, ...others] = [...scene.world.db.runs.values()].map(({ snapshot }) => snapshot);
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      status: 'completed',
      tenantId: TENANT,
      threadId: 'sch_1',
      trigger: { source: 'scheduled', slotAt: T0 + 5 * MINUTE },
      idempotencyKey: 'scheduler:sch_1:2026-01-01T00:05:00Z',
      input: { text: '{"slot":"2026-01-01T00:05:00.000Z","text":"hello"}' },
    });
    expect(await scene.schedule()).toMatchObject({
      last: { slot: T0 + 5 * MINUTE, at: T0 + 5.5 * MINUTE, runId: run?.id },
      nextAt: T0 + 10 * MINUTE,
      fired: 1,
    });
  });

  test('fired by a tick that died becomes the same run months later, when its record has expired', async () => {
    const scene = await sceneOf(stored({ catchUp: 'all', cron: '0 0 2 1 *' }));
    const day = 24 * 60;
    scene.goTo(day + 1);
    const dying = { ...scene.deps, schedules: intercept(scene.deps.schedules, died('write')) };
    expect(await tick(dying)).toMatchObject({ failed: 1 });
    expect(scene.slots()).toEqual([day]);
    scene.world.db.records.clear();
    expect(await scene.tickAt(300 * day)).toMatchObject({ fired: 1, failed: 0 });
    expect(scene.slots()).toEqual([day]);
  });

  test('with a run that a newer version wrote does not block its schedule', async () => {
    const scene = await sceneOf(stored());
    scene.goTo(5);
    const dying = { ...scene.deps, schedules: intercept(scene.deps.schedules, died('write')) };
    expect(await tick(dying)).toMatchObject({ failed: 1 });
    const [newer = ''] = scene.world.db.runs.keys();
    scene.world.writtenBy(newer, NEWER);
    expect(await scene.tickAt(6)).toMatchObject({ fired: 1, failed: 0 });
    expect(await scene.schedule()).toMatchObject({ last: { runId: newer }, nextAt: T0 + 10 * MINUTE });
    expect(await scene.tickAt(10)).toMatchObject({ fired: 1, failed: 0 });
    expect(scene.slots()).toEqual([5, 10]);
  });

  test('is fired under the kill switch: the run waits', async () => {
    const scene = await sceneOf(stored());
    await setKillSwitch(
      { ...scene.deps, config: scene.world.config, statistics: scene.world.statistics },
      { on: true, actor: 'c.x', tenantId: 't1' },
    );
    await scene.tickAt(5.5);
    await scene.world.run();
    expect([...scene.world.db.runs.values()].map(({ snapshot }) => snapshot.status)).toEqual(['pending']);
  });

  test('whose input the workflow refuses is reported, and not tried again', async () => {
    const scene = await sceneOf(stored({ input: { text: 7 } }));
    expect(await scene.tickAt(5.5)).toMatchObject({ fired: 0, refused: 1, failed: 0 });
    expect(await scene.schedule()).toMatchObject({
      refused: 1,
      last: {
        slot: T0 + 5 * MINUTE,
        error: { code: 'INVALID_INPUT', message: expect.stringContaining('text') },
      },
      nextAt: T0 + 10 * MINUTE,
    });
  });

  test('whose workflow a deployment left out is reported, and caught up once it is back', async () => {
    const scene = await sceneOf(stored({ catchUp: 'all' }));
    expect(await scene.tickAt(5.5, scene.depsOver([]))).toMatchObject({ refused: 0, failed: 0 });
    expect(await scene.schedule()).toMatchObject({ last: { error: { code: 'NOT_FOUND' } }, refused: 0 });
    expect(await scene.tickAt(10.5)).toMatchObject({ fired: 2 });
    expect(scene.slots()).toEqual([5, 10]);
  });

  test.each([
    ['its next slot', 5.5, 10],
    ['ten minutes, after an hour', 70.5, 80.5],
  ])('whose workflow is not deployed is tried again after %s', async (_, at, next) => {
    const scene = await sceneOf(stored({ catchUp: 'all' }));
    await scene.tickAt(at, scene.depsOver([]));
    expect((await scene.schedule())?.nextAt).toBe(T0 + next * MINUTE);
  });

  test('that could not be started stays due, those before it do not', async () => {
    const scene = await sceneOf(stored({ catchUp: 'all' }));
    let starts = 0;
    const store = intercept(scene.deps.store, async ({ method }, proceed) => {
      if (method !== 'start') return proceed();
      starts += 1;
      if (starts > 2) throw new Error('no room');
      return proceed();
    });
    expect(await scene.tickAt(21, { ...scene.deps, store })).toMatchObject({ failed: 1 });
    expect(await scene.schedule()).toMatchObject({ fired: 2, nextAt: T0 + 15 * MINUTE });
    expect(await scene.tickAt(22)).toMatchObject({ fired: 2, failed: 0 });
    expect(scene.slots()).toEqual([5, 10, 15, 20]);
    expect(await scene.schedule()).toMatchObject({ fired: 4, skipped: 0 });
  });
});

/** A store that never again responds to a call with that name. */
function died(name: string) {
  return async ({ method }: { readonly method: string }, proceed: () => Promise<unknown>) => {
    if (method === name) throw new Error('the process died');
    return proceed();
  };
}

describe('after a downtime of three hours', () => {
  test.each<[CatchUp, number]>([
    ['skip', 0],
    ['latest', 1],
    ['all', 36],
  ])('with the policy %s there are %i runs, once each, with two ticks racing', async (catchUp, runs) => {
    const scene = await sceneOf(stored({ catchUp }));
    for (let at = 183; at < 185; at += 0.5) {
      scene.goTo(at);
      const reports = await Promise.all([tick(scene.deps), tick(scene.deps)]);
      expect(reports.map(({ failed }) => failed)).toEqual([0, 0]);
    }
    const slots = scene.slots();
    expect(slots).toHaveLength(runs);
    expect(new Set(slots).size).toBe(runs);
    expect(await scene.schedule()).toMatchObject({
      fired: runs,
      skipped: 36 - runs,
      nextAt: T0 + 185 * MINUTE,
      lastCatchUp: { policy: catchUp, missed: 36, made: runs, more: false },
    });
  });
});

describe('a tick', () => {
  test('fires the other schedules although one cannot be read', async () => {
    const scene = await sceneOf(stored({ id: 'sch_1' }), stored({ id: 'sch_2' }));
    const schedules = intercept(scene.deps.schedules, async ({ method, args }, proceed) => {
      if (method === 'read' && args[0] === 'sch_1') throw new Error('undecodable');
      return proceed();
    });
    expect(await scene.tickAt(5.5, { ...scene.deps, schedules })).toMatchObject({
      due: 2,
      fired: 1,
      failed: 1,
    });
  });

  const many = (length: number) =>
    Array.from({ length }, (_, i) => stored({ id: `sch_${i}`, cron: '5 * * * *' }));

  test('fires page after page until nothing is due, also after a page that cannot be fired', async () => {
    const scene = await sceneOf(...many(30));
    const damaged = Array.from({ length: 12 }, (_, i) => `sch_${i}`);
    const schedules = intercept(scene.deps.schedules, async ({ method, args }, proceed) => {
      if (method === 'read' && damaged.includes(args[0] as string)) throw new Error('undecodable');
      return proceed();
    });
    scene.goTo(7);
    expect(await tick({ ...scene.deps, schedules }, 5)).toMatchObject({
      due: 30,
      fired: 18,
      failed: 12,
      isCut: false,
    });
  });

  test('ends when its time is up, the most overdue schedules first, and the next one fires the rest', async () => {
    const scene = await sceneOf(...many(60), stored({ id: 'sch_late', cron: '6 * * * *' }));
    const { clock } = scene.world;
    const schedules = intercept(scene.deps.schedules, async ({ method }, proceed) => {
      if (method === 'read') clock.jump(TICK_MS / 40);
      return proceed();
    });
    scene.goTo(7);
    const first = await tick({ ...scene.deps, schedules }, 10);
    expect(first.isCut).toBe(true);
    expect((await scene.schedule('sch_late')).fired).toBe(0);
    expect(await scene.tickAt(9)).toMatchObject({ fired: 61 - first.fired, isCut: false });
  });

  test('has the same result when every answer is lost once', async () => {
    const scene = await sceneOf(stored({ catchUp: 'all' }));
    const lossy = <T extends object>(port: T): T => {
      const lost = new Set<string>();
      return intercept(port, async ({ method, args }, proceed) => {
        const answer = await proceed();
        const call = `${method} ${JSON.stringify(args)}`;
        if (lost.has(call)) return answer;
        lost.add(call);
        throw new OutcomeUnknown(method, new Error('lost'));
      });
    };
    const { schedules, store, records } = scene.deps;
    // A tick whose query for due schedules fails is over. The next tick queries again.
    const all = lossy(schedules);
    const due = { due: (now: number, limit: number) => schedules.due(now, limit) };
    const mostly = new Proxy(schedules, { get: (_, name) => Reflect.get(name === 'due' ? due : all, name) });
    const clock = {
      now: () => scene.world.clock.now(),
      timer(_: number, fire: () => void) {
        queueMicrotask(fire);
        return () => {};
      },
    };
    const deps = { ...scene.deps, clock, schedules: mostly, store: lossy(store), records: lossy(records) };
    await scene.tickAt(16, deps);
    expect(scene.slots()).toEqual([5, 10, 15]);
    expect(await scene.schedule()).toMatchObject({ fired: 3, nextAt: T0 + 20 * MINUTE });
  });
});

describe('a schedule that a workflow declares', () => {
  const declaring = (on: object, type = 'echo') =>
    defineWorkflow({
      type,
      planVersion: 1,
      input: z.object({ text: z.string().default(''), slot: z.string().optional() }),
      on: { schedule: { cron: '*/5 * * * *', ...on } },
      steps: (step) => ({ said: step('say', ({ input }) => ({ ...input })) }),
    });

  test('is stored and fired automatically', async () => {
    const scene = new Scene([declaring({ input: { text: 'a' } })]);
    await scene.tickAt(1);
    expect(await scene.schedule('echo')).toMatchObject({
      origin: 'declared',
      tenantId: TENANT,
      catchUp: 'latest',
      timezone: 'Etc/UTC',
      nextAt: T0 + 5 * MINUTE,
    });
    await scene.tickAt(5.5);
    await scene.tickAt(10.5);
    expect(scene.slots()).toEqual([5, 10]);
  });

  test('changes with the definition from its deployment on', async () => {
    const scene = new Scene([declaring({})]);
    await scene.tickAt(1);
    await scene.tickAt(5.5);
    const changed = scene.depsOver([
      declaring({ cron: '*/10 * * * *', input: { text: 'new' }, catchUp: 'all' }),
    ]);
    await scene.tickAt(16, changed);
    expect(await scene.schedule('echo')).toMatchObject({
      cron: '*/10 * * * *',
      input: { text: 'new' },
      catchUp: 'all',
      nextAt: T0 + 20 * MINUTE,
      fired: 1,
    });
    await scene.tickAt(20.5, changed);
    expect(scene.slots()).toEqual([5, 20]);
  });

  test.each([
    ['*/5 * * * *', '*/10 * * * *', [5, 10, 20]],
    ['*/5 * * * *', '*/2 * * * *', [5, 10, 12, 14, 16, 18, 20]],
    ['10 * * * *', '11 * * * *', [11]],
  ])('keeps a slot that both %s and %s have, if deployed just before it', async (cron, later, slots) => {
    const scene = new Scene([declaring({ cron })]);
    for (let minute = 1; minute < 10; minute += 1) await scene.tickAt(minute);
    const changed = scene.depsOver([declaring({ cron: later })]);
    for (let minute = 10; minute <= 20; minute += 1) await scene.tickAt(minute, changed);
    expect(scene.slots()).toEqual(slots);
  });

  test('stops when it is no longer declared, and continues when it is declared again', async () => {
    const scene = new Scene([declaring({})]);
    await scene.tickAt(1);
    await scene.tickAt(5.5);
    const without = scene.depsOver([echo]);
    expect(await scene.tickAt(10.5, without)).toMatchObject({ fired: 0, failed: 0 });
    expect(await scene.schedule('echo')).toMatchObject({ state: 'withdrawn' });
    expect(await scene.tickAt(15.5, without)).toMatchObject({ due: 0 });
    await scene.tickAt(21);
    await scene.tickAt(25.5);
    expect(scene.slots()).toEqual([5, 25]);
  });

  test('costs one read a minute while nothing is due', async () => {
    const scene = new Scene([declaring({})]);
    await scene.tickAt(1);
    const calls: string[] = [];
    const schedules = intercept(scene.deps.schedules, async ({ method }, proceed) => {
      calls.push(method);
      return proceed();
    });
    await scene.tickAt(2, { ...scene.deps, schedules });
    expect(calls).toEqual(['read', 'due']);
  });
});
