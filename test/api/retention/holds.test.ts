import { beforeEach, describe, expect, test } from '@jest/globals';
import { DELETION_GRACE_MS } from '../../../packages/cairn/src/core/retention/lineage.ts';
import { deleteExpiredRuns } from '../../../packages/cairn/src/operations/retention/delete-expired.ts';
import { Installation } from '../installation.ts';

let installation: Installation;
let admin: string;
let runId: string;

beforeEach(async () => {
  installation = new Installation();
  admin = await installation.key('ops', { roles: ['admin', 'submitter'] });
  const started = await installation.post(admin, { type: 'echo', input: { text: 'hello' } });
  ({ runId } = (await started.json()) as { runId: string });
  await installation.world.run();
});

function post(path: string, key: string, body: object = {}): Promise<Response> {
  return Promise.resolve(
    installation.api.request(`/v1/runs/${runId}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    }),
  );
}

/** A tick, and the grace period after it. */
async function tick(): Promise<void> {
  const { apiDeps, world } = installation;
  const { retention, erasures, retentionOf } = apiDeps;
  await deleteExpiredRuns({ ...world.deps, retention, erasures, retentionOf });
  world.clock.jump(DELETION_GRACE_MS);
}

const read = async (path = '') => {
  const answer = await installation.get(`/v1/runs/${runId}${path}`, admin);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

describe('a legal hold', () => {
  const reason = 'case 4711';

  test('keeps a run, shows its author and time, and keeps its first reason', async () => {
    const hold = await (await post('/hold', admin, { reason })).json();
    expect(hold).toMatchObject({ runId, legalHold: { by: 'c.ops', reason } });
    expect(await (await post('/hold', admin, { reason: 'another' })).json()).toEqual(hold);
    for (let ticks = 0; ticks < 3; ticks += 1) await tick();
    expect((await read('/retention')).body).toMatchObject({
      would: 'keep',
      because: { why: 'held', runId },
      legalHold: { reason },
    });
  });

  test('ends when it is removed: then the run is hidden, can no longer be held, and is deleted', async () => {
    await post('/hold', admin, { reason });
    await tick();
    expect((await post('/release-hold', admin)).status).toBe(200);
    expect((await read('/retention')).body).toMatchObject({ runId, would: 'delete' });
    await tick();
    expect(installation.world.db.runs.has(runId)).toBe(true);
    for (const path of ['', '/events', '/retention', '/consistency'])
      expect((await read(path)).status).toBe(404);
    expect((await post('/hold', admin, { reason })).status).toBe(404);
    expect((await post('/replay', admin)).status).toBe(404);
    const list = await installation.get('/v1/runs', admin);
    expect(((await list.json()) as { items: unknown[] }).items).toEqual([]);
    await tick();
    expect(installation.world.db.runs.has(runId)).toBe(false);
  });

  test('requires a reason, and is refused to operators', async () => {
    const operator = await installation.key('op', { roles: ['operator'] });
    expect((await post('/hold', admin)).status).toBe(400);
    expect((await post('/hold', admin, { reason: '  ' })).status).toBe(400);
    expect((await post('/hold', operator, { reason })).status).toBe(403);
    expect((await post('/release-hold', operator)).status).toBe(403);
  });
});

test('a run continues while it is held', async () => {
  const started = await installation.post(admin, { type: 'echo', input: { text: 'again' } });
  ({ runId } = (await started.json()) as { runId: string });
  await post('/hold', admin, { reason: 'from the first' });
  await installation.world.run();
  expect((await read()).body).toMatchObject({ status: 'completed' });
  expect((await read('/retention')).body).toMatchObject({ because: { why: 'held' } });
});

test('the dry run lists runs past their retention page by page, and refuses a cursor of another list', async () => {
  for (let n = 0; n < 4; n += 1) await installation.post(admin, { type: 'echo', input: { text: String(n) } });
  await installation.world.run();
  const found: unknown[] = [];
  let query = '?limit=2';
  for (let pages = 0; pages < 10 && query !== ''; pages += 1) {
    const answer = await installation.get(`/v1/retention${query}`, admin);
    const { items, next } = (await answer.json()) as { items: { runId: string }[]; next?: string };
    found.push(...items.map((item) => item.runId));
    query = next === undefined ? '' : `?limit=2&cursor=${next}`;
  }
  expect(new Set(found).size).toBe(5);
  expect(found).toHaveLength(5);
  for (const cursor of ['x', Buffer.from('["completed","echo",1]').toString('base64url')])
    expect((await installation.get(`/v1/retention?cursor=${cursor}`, admin)).status).toBe(400);
});
