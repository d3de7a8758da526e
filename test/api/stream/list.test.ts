import { afterEach, describe, expect, test } from '@jest/globals';
import { beginning } from '../../conformance/support/run-fixture.ts';
import { settle } from '../../support/virtual-clock.ts';
import { Installation } from '../installation.ts';
import { cancelReadings, HEARTBEAT_MS, Reading } from './reading.ts';

const STREAM_MS = 50_000;
const ROUND_MS = 200;

afterEach(cancelReadings);

async function withRuns(texts: readonly string[] = []) {
  const installation = new Installation();
  const { clock } = installation.world;
  const key = await installation.key('dev');
  const start = async (text: string, more: object = {}, by = key): Promise<string> => {
    clock.jump(1);
    const answer = await installation.post(by, { type: 'echo', input: { text }, ...more });
    return ((await answer.json()) as { runId: string }).runId;
  };
  const ids: string[] = [];
  for (const text of texts) ids.push(await start(text));
  const ask = (query = '', by = key) => installation.get(`/v1/runs/stream${query}`, by);
  const open = async (query = '', by = key) => new Reading(await ask(query, by));
  /** Lets the next round begin. */
  const nextRound = async () => {
    await settle();
    clock.jump(ROUND_MS);
    clock.fireNext(clock.now());
    await settle();
  };
  const list = async (query = '') => {
    const answer = await installation.get(`/v1/runs${query}`, key);
    return ((await answer.json()) as { items: Record<string, unknown>[] }).items;
  };
  return { installation, clock, key, start, ids, ask, open, nextRound, list };
}

/** Reads until the initial runs have been reported. */
async function untilReady(reading: Reading): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const frame = await reading.next();
    if (frame?.event === 'ready') return ids;
    if (frame?.event !== 'run') throw new Error(`unexpected ${JSON.stringify(frame)}`);
    ids.push(String(frame.data?.id));
  }
}

describe('the stream of a list', () => {
  test('shows the newest runs like the list, and then the end of the list', async () => {
    const { open, list } = await withRuns(['a', 'b', 'c']);
    const reading = await open('?limit=2');
    const [first, second] = await list();
    expect([await reading.next(), await reading.next(), await reading.next()]).toEqual([
      { event: 'run', data: first },
      { event: 'run', data: second },
      { event: 'ready', data: {} },
    ]);
    expect(reading.answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(reading.answer.headers.get('cache-control')).toBe('no-store, no-transform');
  });

  test('sends the list and ends for a client behind a proxy that buffers answers', async () => {
    const { open, ids, ask } = await withRuns(['a', 'b']);
    const frames = await (await open('?follow=false')).rest();
    expect(frames.map(({ event, data }) => data?.id ?? event)).toEqual([...ids.toReversed(), 'ready']);
    const none = await (await open('?follow=false&type=greet')).rest();
    expect(none).toEqual([{ event: 'ready', data: {} }]);
    expect((await ask('?follow=0')).status).toBe(400);
  });

  test('shows a run that begins, and each change of a run', async () => {
    const { open, start, nextRound, installation, list } = await withRuns();
    const reading = await open();
    expect(await untilReady(reading)).toEqual([]);
    const started = reading.next();
    const id = await start('new');
    await nextRound();
    expect(await started).toMatchObject({ event: 'run', data: { id, status: 'pending' } });
    const ended = reading.next();
    await installation.world.run();
    await nextRound();
    expect(await ended).toMatchObject({ event: 'run', data: { id, status: 'completed' } });
    expect(await list()).toHaveLength(1);
  });

  test('names runs that no longer match, and those displaced by newer ones', async () => {
    const { open, start, nextRound, installation, ids } = await withRuns(['a']);
    const pending = await open('?status=pending&limit=1');
    expect(await untilReady(pending)).toEqual(ids);
    const next = pending.next();
    const newer = await start('b');
    await nextRound();
    expect(await next).toEqual({ event: 'gone', data: { id: ids[0] } });
    expect(await pending.next()).toMatchObject({ event: 'run', data: { id: newer } });
    const gone = pending.next();
    await installation.world.run();
    await nextRound();
    expect(await gone).toEqual({ event: 'gone', data: { id: newer } });
  });

  test('sends a run that changed often once, in its last state', async () => {
    const { open, start, nextRound, installation } = await withRuns();
    const { store } = installation.world;
    const reading = await open();
    await untilReady(reading);
    const first = reading.next();
    const id = await start('a');
    await nextRound();
    expect(await first).toMatchObject({ data: { status: 'pending' } });
    const after = reading.next();
    let moves = 0;
    const leave = store.onAppend(() => {
      moves += 1;
    });
    await installation.world.run();
    leave();
    expect(moves).toBeGreaterThan(1);
    await nextRound();
    expect(await after).toMatchObject({ event: 'run', data: { id, status: 'completed' } });
    await nextRound();
    const other = reading.next();
    await start('b');
    await nextRound();
    expect((await other)?.data?.id).not.toBe(id);
  });

  test('sends at most five changes of a run a second, to a fast reader too', async () => {
    const { open, clock, installation } = await withRuns();
    const reading = await open();
    await untilReady(reading);
    const { store } = installation.world;
    let frames = 0;
    const count = (async () => {
      while (await reading.next()) frames += 1;
    })();
    const began = clock.now();
    // Runs start endlessly, and each change would be a frame of its own.
    for (let i = 0; clock.now() - began < 1_000; i += 1) {
      await store.start(beginning(`run_${i}`, { at: clock.now() }));
      await settle();
      clock.jump(10);
      clock.fireNext(clock.now());
    }
    // A hundred runs, reported in five rounds of at most fifty, and as many that are gone.
    expect(frames).toBeGreaterThan(50);
    expect(frames).toBeLessThanOrEqual(150);
    installation.world.shutdown.abort();
    await count;
  });

  test('buffers nothing for a reader that does not read', async () => {
    const { open, clock, installation, nextRound } = await withRuns();
    const reading = await open('?limit=5');
    await untilReady(reading);
    for (let i = 0; i < 200; i += 1) {
      await installation.world.store.start(beginning(`run_${i}`, { at: clock.now() + i }));
      await nextRound();
    }
    const shown: string[] = [];
    let frames = 0;
    // The report that was started before the reader stopped, then the current list.
    while (!['199', '198', '197', '196', '195'].every((n) => shown.includes(`run_${n}`))) {
      const next = reading.next();
      await nextRound();
      const { event, data } = (await next) ?? {};
      frames += 1;
      if (event === 'run') shown.push(String(data?.id));
    }
    expect(frames).toBeLessThanOrEqual(20);
  });

  test('without changes sends heartbeats only', async () => {
    const { open, clock, installation, ids } = await withRuns(['a']);
    const { store } = installation.world;
    const reading = await open();
    await untilReady(reading);
    const next = reading.next();
    for (let passed = 0; passed <= HEARTBEAT_MS; passed += 1_000) {
      const seen = (await store.load(ids[0] ?? ''))?.snapshotVersion ?? '';
      await store.touch({ runId: ids[0] ?? '', seen, metadata: { heartbeat: true } });
      await settle();
      clock.jump(1_000);
      clock.fireNext(clock.now());
      await settle();
    }
    expect(await next).toEqual({ comment: 'quiet' });
  });

  test('pauses before its time is up, and sends the list anew to a client that reconnects', async () => {
    const { open, clock, start, ids } = await withRuns(['a']);
    const reading = await open();
    const opened = clock.now();
    expect(await untilReady(reading)).toEqual(ids);
    let hasEnded = false;
    const rest = reading.rest().finally(() => {
      hasEnded = true;
    });
    while (!hasEnded) {
      await settle();
      clock.fireNext(opened + STREAM_MS);
    }
    expect(await rest).toEqual([{ comment: 'quiet' }, { comment: 'quiet' }, { comment: 'quiet' }]);
    expect(clock.now()).toBe(opened + STREAM_MS);
    const missed = await start('b');
    expect(await untilReady(await open())).toEqual([missed, ...ids]);
  });

  test('ends when the instance shuts down', async () => {
    const { open, installation } = await withRuns();
    const reading = await open();
    await untilReady(reading);
    const end = reading.next();
    await settle();
    installation.world.shutdown.abort();
    expect(await end).toBeUndefined();
  });

  test('shows statuses in the requested vocabulary, and filters by it', async () => {
    const { open, installation, ids } = await withRuns(['a']);
    await installation.world.run();
    const reading = await open('?vocabulary=orcho&status=done');
    expect(await reading.next()).toMatchObject({ event: 'run', data: { id: ids[0], status: 'done' } });
  });

  test('shows no runs of another tenant', async () => {
    const { open, installation, start, nextRound } = await withRuns(['a']);
    const stranger = await installation.key('stranger', { tenantId: 'other' });
    const reading = await open('', stranger);
    expect(await untilReady(reading)).toEqual([]);
    const next = reading.next();
    await start('b');
    await nextRound();
    const own = await start('own', {}, stranger);
    await nextRound();
    expect((await next)?.data?.id).toBe(own);
  });

  test('of HEAD has headers only, and takes no place', async () => {
    const { installation, key } = await withRuns();
    for (let i = 0; i < 20; i += 1) {
      const answer = await installation.api.request('/v1/runs/stream', {
        method: 'HEAD',
        headers: { authorization: `Bearer ${key}` },
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ]);
    }
  });
});

describe('the stream of a list is refused', () => {
  test.each([
    'limit=0',
    'limit=101',
    'limit=1e2',
    'limit=-1',
    'limit=50&limit=50',
    'status=asleep',
    'status=',
    'vocabulary=klingon',
    'cursor=x',
    'after=1',
    'tenantId=other',
    `type=${'x'.repeat(2_001)}`,
  ])('with 400 for %s', async (query) => {
    const { ask } = await withRuns();
    const answer = await ask(`?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('with 401 without a key, and not to a viewer', async () => {
    const { installation, ask } = await withRuns();
    expect((await installation.api.request('/v1/runs/stream')).status).toBe(401);
    const viewer = await installation.key('viewer', { roles: ['viewer'] });
    expect((await ask('', viewer)).status).toBe(200);
  });

  test('with 429 when the tenant has all its places, which streams of runs share', async () => {
    const { open, ask, installation, key, ids } = await withRuns(['a']);
    installation.shareAmongTenants();
    const mine = await Promise.all(Array.from({ length: 19 }, () => open()));
    const ofRun = new Reading(await installation.get(`/v1/runs/${ids[0]}/stream`, key));
    expect((await ask()).status).toBe(429);
    await mine[0]?.cancel();
    expect((await open()).answer.status).toBe(200);
    expect(ofRun.answer.status).toBe(200);
  });
});
