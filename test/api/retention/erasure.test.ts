import { beforeEach, expect, test } from '@jest/globals';
import { DELETION_GRACE_MS } from '../../../packages/cairn/src/core/retention/lineage.ts';
import { deleteExpiredRuns } from '../../../packages/cairn/src/operations/retention/delete-expired.ts';
import { Installation } from '../installation.ts';

const SECRET = 'ada@example.com';
let installation: Installation;
let admin: string;
/** Number of requests so far. Each has its own key. */
let requestCount = 0;
beforeEach(async () => {
  installation = new Installation();
  admin = await installation.key('ops', { tenantId: 'local', roles: ['admin'] });
});

async function post(path: string, body: object, key = admin) {
  requestCount += 1;
  const answer = await installation.api.request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': `k${requestCount}`,
    },
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function finished(): Promise<string> {
  const { body } = await post('/v1/runs', { type: 'echo', input: { text: SECRET } });
  await installation.world.run();
  return String(body.runId);
}

async function tick(): Promise<void> {
  const { apiDeps, world } = installation;
  const { retention, erasures, retentionOf } = apiDeps;
  await deleteExpiredRuns({ ...world.deps, retention, erasures, retentionOf });
  world.clock.jump(DELETION_GRACE_MS);
}

/** Every document except idempotency records. */
function stored(): string {
  const documents = Object.entries(installation.world.db).filter(([name]) => name !== 'clients');
  return JSON.stringify(documents.map(([, held]) => (held instanceof Map ? [...held] : held)));
}

test('an admin erases a run with all its names, and reads what was deleted', async () => {
  const runId = await finished();
  expect(stored()).toContain(SECRET);
  const response = await post(`/v1/runs/${runId}/erase`, { confirm: runId });
  expect(response).toMatchObject({ status: 202, body: { scope: 'lineage', state: 'open', lineagesLeft: 1 } });
  expect((await installation.get(`/v1/runs/${runId}`, admin)).status).toBe(404);
  installation.world.clock.jump(DELETION_GRACE_MS);
  await tick();
  const path = `/v1/erasures/${String(response.body.id)}`;
  const done = await (await installation.get(path, admin)).json();
  // The start had a key, whose record is erased too.
  expect(done).toMatchObject({ state: 'done', lineagesLeft: 0, gone: { runs: 1, records: 1 } });
  expect(stored()).not.toContain(SECRET);
  expect(installation.world.db.runs.size).toBe(0);
  expect(await post(`/v1/runs/${runId}/erase`, { confirm: runId })).toMatchObject({
    body: { state: 'done' },
  });
});

test('an erasure requires the id as its confirmation, and refuses a live run', async () => {
  const runId = await finished();
  const before = stored();
  expect(await post(`/v1/runs/${runId}/erase`, { confirm: 'yes' })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', field: 'confirm' },
  });
  expect(
    await post('/v1/erasures', { tenantId: 'local', confirm: 'lokal' }, await installationKey()),
  ).toMatchObject({
    status: 400,
    body: { field: 'confirm' },
  });
  expect(stored()).toBe(before);
});

test('only the installation erases a tenant', async () => {
  await finished();
  expect((await post('/v1/erasures', { tenantId: 'local', confirm: 'local' })).status).toBe(403);
  const key = await installationKey();
  const response = await post('/v1/erasures', { tenantId: 'local', confirm: 'local' }, key);
  expect(response).toMatchObject({ status: 202, body: { scope: 'tenant', state: 'open' } });
  installation.world.clock.jump(DELETION_GRACE_MS);
  await tick();
  const done = await (await installation.get(`/v1/erasures/${String(response.body.id)}`, key)).json();
  expect(done).toMatchObject({ state: 'done', gone: { runs: 1, records: 1 } });
  expect(stored()).not.toContain(SECRET);
});

test('lists who requested which erasure: an admin sees those of its tenant, the installation all', async () => {
  const runId = await finished();
  const response = await post(`/v1/runs/${runId}/erase`, { confirm: runId });
  const key = await installationKey();
  installation.world.clock.jump(1_000);
  await post('/v1/erasures', { tenantId: 'rival', confirm: 'rival' }, key);
  const listed = async (as: string) =>
    ((await (await installation.get('/v1/erasures', as)).json()) as { items: unknown[] }).items;
  const own = { ...response.body, requestedBy: expect.stringMatching(/./) };
  expect(await listed(admin)).toEqual([own]);
  expect(await listed(key)).toEqual([
    expect.objectContaining({ scope: 'tenant', state: 'done', requestedBy: expect.stringContaining('root') }),
    own,
  ]);
});

function installationKey(): Promise<string> {
  return installation.key('root', { tenantId: 'platform', roles: ['installation'] });
}
