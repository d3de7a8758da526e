import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../packages/cairn/src/api/app.ts';
import { runView, silentSinceView } from '../../packages/cairn/src/api/views/run.ts';
import { NewerSchemaError } from '../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { echo, Installation } from './installation.ts';
import { parent } from './openapi/workflows.ts';

type Body = Record<string, unknown> & { items: Record<string, unknown>[]; next?: string };

async function withRuns(count: number) {
  const installation = new Installation();
  const key = await installation.key('dev');
  const runIds: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const answer = await installation.post(key, {
      type: 'echo',
      input: { text: `run ${i}` },
      threadId: `t${i % 2}`,
    });
    runIds.push(((await answer.json()) as { runId: string }).runId);
    installation.world.clock.jump(1_000);
  }
  const read = async (path: string): Promise<Body> =>
    (await (await installation.get(path, key)).json()) as Body;
  return { installation, key, runIds, read, runId: runIds[0] ?? '' };
}

test('a run is shown with its input, result and times, without internal members', async () => {
  const { installation, read, runId } = await withRuns(1);
  await installation.world.run();
  const run = await read(`/v1/runs/${runId}`);
  expect(run).toMatchObject({
    id: runId,
    tenantId: 'acme',
    environment: 'test',
    type: 'echo',
    planVersion: 1,
    status: 'completed',
    threadId: 't0',
    trigger: { source: 'api' },
    input: { text: 'run 0' },
    result: { said: { text: 'run 0' } },
    createdAt: '2026-01-01T00:00:00.000Z',
    steps: { begun: 1, succeeded: 1, running: 0 },
  });
  expect(run.completedAt).toMatch(/^2026-01-01T/);
  for (const internal of ['soft', 'shard', 'lease', 'wakeAt']) expect(run).not.toHaveProperty(internal);
});

test('a run is never shown older than its journal, though its snapshot lags (J7)', async () => {
  const { installation, read, runId } = await withRuns(1);
  const { db } = installation.world;
  await installation.world.run(
    () => (db.runs.get(runId)?.events.length ?? 0) > (db.runs.get(runId)?.snapshot.head ?? 0),
  );
  const head = db.runs.get(runId)?.events.length;
  expect((await read(`/v1/runs/${runId}`)).head).toBe(head);
});

test('a lease is shown as extended by its drive, with the last heartbeat and the reports of bodies', async () => {
  const { installation, runId } = await withRuns(1);
  const pending = (await installation.world.store.load(runId))?.state;
  if (!pending) throw new Error('the run is gone');
  const expiresAt = pending.updatedAt + 5_000;
  const state: RunState = { ...pending, status: 'running', lease: { owner: 'one', epoch: 1, expiresAt } };
  const beaten = {
    leaseExtendedTo: expiresAt + 60_000,
    lastHeartbeatAt: expiresAt - 1_000,
    inFlight: [{ step: 'say', detailsText: '{"page":3}', at: expiresAt - 2_000 }],
  };
  const values = { input: { text: '1' }, result: undefined };
  const until = new Date(expiresAt + 60_000).toISOString();
  expect(runView({ state, metadata: beaten }, values, 'cairn')).toMatchObject({
    lease: { epoch: 1, expiresAt: until },
    wakeAt: until,
    lastHeartbeatAt: new Date(expiresAt - 1_000).toISOString(),
    progress: [{ step: 'say', details: { page: 3 }, at: new Date(expiresAt - 2_000).toISOString() }],
  });
  expect(runView({ state: pending, metadata: beaten }, values, 'cairn')).not.toHaveProperty('progress');
});

test('a run tells since when its worker is silent, as long as the worker holds it', async () => {
  const { installation, runId } = await withRuns(1);
  const loaded = await installation.world.store.load(runId);
  if (!loaded) throw new Error('the run is gone');
  const { readAt } = loaded;
  const lease = { owner: 'one', epoch: 1, expiresAt: readAt + 1 };
  const seen = (silentMs: number, held = true) =>
    silentSinceView(
      {
        ...loaded,
        state: held ? { ...loaded.state, lease } : loaded.state,
        metadata: { ...loaded.metadata, lastHeartbeatAt: readAt - silentMs },
      },
      { heartbeatMs: 25_000 },
    );
  expect(seen(26_000)).toBeUndefined();
  expect(seen(26_001)).toBe(new Date(readAt - 26_001).toISOString());
  expect(seen(26_001, false)).toBeUndefined();
});

test('a value too large for the snapshot is shown in full', async () => {
  const installation = new Installation();
  const key = await installation.key('dev');
  const text = 'x'.repeat(100_000);
  const { runId } = (await (await installation.post(key, { type: 'echo', input: { text } })).json()) as {
    runId: string;
  };
  await installation.world.run();
  const run = (await (await installation.get(`/v1/runs/${runId}`, key)).json()) as Body;
  expect(run.input).toEqual({ text });
  expect(run.result).toEqual({ said: { text } });
});

test('user values are shown unchanged, whatever the names of their members', async () => {
  const { installation, read, runId } = await withRuns(1);
  await installation.world.run();
  const newest = (await read(`/v1/runs/${runId}/checkpoints`)).items.at(-1);
  expect(newest?.output).toEqual({ said: { text: 'run 0' } });
});

describe('lists under a run', () => {
  test('events: in order, complete, with readable times and values', async () => {
    const { installation, read, runId } = await withRuns(1);
    await installation.world.run();
    const { items } = await read(`/v1/runs/${runId}/events?limit=100`);
    expect(items.at(-1)).toMatchObject({
      type: 'run_completed',
      data: { result: { said: { text: 'run 0' } } },
    });
    expect(items[0]).toMatchObject({
      seq: 1,
      type: 'run_created',
      at: '2026-01-01T00:00:00.000Z',
      data: { input: { text: 'run 0' } },
    });
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, i) => i + 1));
  });

  test('steps: by id, with readable times', async () => {
    const { installation, read, runId } = await withRuns(1);
    await installation.world.run();
    const { items } = await read(`/v1/runs/${runId}/steps`);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      id: 'say',
      status: 'succeeded',
      attempts: 1,
      startedAt: expect.stringMatching(/Z$/),
    });
    expect(items[0]).not.toHaveProperty('startedAtMs');
  });

  test('steps: compensated ones are marked', async () => {
    const undone = defineWorkflow({
      type: 'undone',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        const kept = step('kept', () => 1);
        const booked = step('booked', { needs: { kept }, compensate: () => {} }, () => 2);
        const failing = step('failing', { needs: { booked }, retry: { maxAttempts: 1 } }, (): number => {
          throw new Error('no');
        });
        return { failing };
      },
    });
    const installation = new Installation([undone]);
    const key = await installation.key('dev');
    const { runId } = (await (await installation.post(key, { type: 'undone', input: {} })).json()) as {
      runId: string;
    };
    await installation.world.run();
    const { items } = (await (await installation.get(`/v1/runs/${runId}/steps`, key)).json()) as Body;
    expect(items.map(({ id, compensated }) => [id, compensated])).toEqual([
      ['booked', true],
      ['failing', false],
      ['kept', false],
    ]);
  });

  test('events: those after a sequence number, page by page', async () => {
    const { installation, read, runId } = await withRuns(1);
    await installation.world.run();
    const { items } = await read(`/v1/runs/${runId}/events?limit=100`);
    const seqs = items.map(({ seq }) => seq);
    const first = await read(`/v1/runs/${runId}/events?after=2&limit=2`);
    expect(first.items.map(({ seq }) => seq)).toEqual([3, 4]);
    const rest = await read(`/v1/runs/${runId}/events?after=2&limit=100&cursor=${first.next}`);
    expect(rest.items.map(({ seq }) => seq)).toEqual(seqs.slice(4));
    expect((await read(`/v1/runs/${runId}/events?after=0&limit=100`)).items).toEqual(items);
    expect((await read(`/v1/runs/${runId}/events?after=${seqs.length}`)).items).toEqual([]);
    expect(await read(`/v1/runs/${runId}/events?after=two`)).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'after',
    });
  });

  test.each(['events', 'checkpoints'])('%s: the pages together are the whole list', async (list) => {
    const { installation, read, runId } = await withRuns(1);
    await installation.world.run();
    const whole = (await read(`/v1/runs/${runId}/${list}?limit=100`)).items;
    const joined: unknown[] = [];
    let page = await read(`/v1/runs/${runId}/${list}?limit=1`);
    for (
      ;
      page.next !== undefined;
      page = await read(`/v1/runs/${runId}/${list}?limit=1&cursor=${page.next}`)
    ) {
      joined.push(...page.items);
    }
    expect([...joined, ...page.items]).toEqual(whole);
    expect(whole.length).toBeGreaterThan(1);
  });
});

describe('the list of runs', () => {
  test('has child runs, unless only the top level is asked for', async () => {
    const installation = new Installation([echo, parent]);
    const key = await installation.key('dev');
    await installation.post(key, { type: 'parent', input: {} });
    await installation.world.run();
    const types = async (query: string) => {
      const { items } = (await (await installation.get(`/v1/runs${query}`, key)).json()) as Body;
      return items.map(({ type }) => type).sort();
    };
    expect(await types('')).toEqual(['echo', 'parent']);
    expect(await types('?topLevel=false')).toEqual(['echo', 'parent']);
    expect(await types('?topLevel=true')).toEqual(['parent']);
    expect(await types('?topLevel=true&type=echo')).toEqual([]);
    const wrong = await installation.get('/v1/runs?topLevel=yes', key);
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { field: 'topLevel' }]);
  });

  test('is newest first, and its pages together are the whole list', async () => {
    const { read, runIds } = await withRuns(5);
    const first = await read('/v1/runs?limit=2');
    const second = await read(`/v1/runs?limit=2&cursor=${first.next}`);
    const third = await read(`/v1/runs?limit=2&cursor=${second.next}`);
    const listed = [first, second, third].flatMap(({ items }) => items.map(({ id }) => id));
    expect(listed).toEqual([...runIds].reverse());
    expect(third.next).toBeUndefined();
  });

  test('shows twenty unless asked otherwise', async () => {
    const { read } = await withRuns(21);
    expect((await read('/v1/runs')).items).toHaveLength(20);
    expect((await read('/v1/runs?limit=100')).items).toHaveLength(21);
  });

  test.each([
    ['status=pending', 4],
    ['status=completed', 0],
    ['status=completed,pending', 4],
    ['status=completed,failed', 0],
    ['since=2000-01-01T00:00:00Z', 4],
    ['since=2999-01-01T00:00:00Z&status=completed,pending', 0],
    ['until=2000-01-01T00:00:00%2B02:00', 0],
    ['type=echo', 4],
    ['type=other', 0],
    ['threadId=t1', 2],
    ['repoId=acme%2Fapp', 0],
    ['tag=customer:50%', 0],
    ['tag=customer:%EF%BF%BD%c3%A9', 0],
    ['status=pending&type=echo&threadId=t0', 2],
  ])('filtered by %s holds %i', async (query, count) => {
    const { read } = await withRuns(4);
    expect((await read(`/v1/runs?${query}`)).items).toHaveLength(count);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=finished', 'status'],
    ['status=pending,', 'status'],
    ['status=halted,failed', 'status'],
    ['since=yesterday', 'since'],
    ['until=2026', 'until'],
    ['since=2026-02-30T00:00:00Z', 'since'],
    ['until=2026-04-31T23:00:00%2B02:00', 'until'],
    ['vocabulary=klingon', 'vocabulary'],
    ['vocabulary=', 'vocabulary'],
    ['status=', 'status'],
    ['statsu=pending', 'statsu'],
    ['tenantId=other', 'tenantId'],
    ['cursor=made-up', 'cursor'],
    ['__proto__=1', '__proto__'],
    [`type=${'x'.repeat(2_001)}`, 'type'],
    ['threadId=t%ff', 'threadId'],
    ['tag=customer:%ed%a0%80', 'tag'],
  ])('refuses %s', async (query, field) => {
    const { installation, key } = await withRuns(1);
    const answer = await installation.get(`/v1/runs?${query}`, key);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT', field });
  });

  test('a cursor of another list is refused', async () => {
    const { installation, key, read, runId } = await withRuns(2);
    const { next } = await read('/v1/runs?limit=1');
    expect((await installation.get(`/v1/runs/${runId}/events?cursor=${next}`, key)).status).toBe(400);
  });
});

test("another tenant's run is answered exactly like a missing one, on every route", async () => {
  const { installation, runId } = await withRuns(1);
  const stranger = await installation.key('stranger', { tenantId: 'other', roles: ['admin'] });
  const missing = 'run_aaaaaaaaaaaaaaaaaaaaaaaaaa';
  for (const under of ['', '/events', '/steps', '/checkpoints']) {
    const theirs = await installation.get(`/v1/runs/${runId}${under}`, stranger);
    const none = await installation.get(`/v1/runs/${missing}${under}`, stranger);
    expect([theirs.status, none.status]).toEqual([404, 404]);
    expect(await theirs.text()).toBe(await none.text());
  }
  expect(await (await installation.get('/v1/runs', stranger)).json()).toEqual({ items: [] });
});

test.each(['run_x', '..', '%2e%2e', 'run_AAAAAAAAAAAAAAAAAAAAAAAAAA', '%00', '%zz', 'a%2Fb'])(
  '%s is no run id, and is answered 404',
  async (id) => {
    const { installation, key } = await withRuns(0);
    expect((await installation.get(`/v1/runs/${id}`, key)).status).toBe(404);
  },
);

test.each([
  ['does not answer', new OutcomeUnknown('read of run', new Error('deadline'))],
  ['was written by a newer version', new NewerSchemaError('run', 2)],
])('a store that %s is 503 with Retry-After', async (_what, error) => {
  const { installation, key, runId } = await withRuns(1);
  const store = Object.create(installation.world.store) as typeof installation.world.store;
  store.load = () => Promise.reject(error);
  const api = createApi({ ...installation.apiDeps, store });
  const answer = await api.request(`/v1/runs/${runId}`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answer.json()).toMatchObject({ code: 'UNAVAILABLE' });
});

test('an unexpected error reveals nothing of itself', async () => {
  const { installation, key, runId } = await withRuns(1);
  const store = Object.create(installation.world.store) as typeof installation.world.store;
  store.load = () => Promise.reject(new Error('password=hunter2'));
  const api = createApi({ ...installation.apiDeps, store });
  const answer = await api.request(`/v1/runs/${runId}`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain('hunter2');
});
