import { beforeEach, describe, expect, test } from '@jest/globals';
import { checkRun } from '../../packages/cairn/src/core/integrity/check-run.ts';
import type { RunDocuments } from '../../packages/cairn/src/memory/memory-database.ts';
import { readDocuments } from '../../packages/cairn/src/operations/integrity/read-documents.ts';
import { Installation } from './installation.ts';

type Body = Record<string, unknown> & { problems?: { code: string }[]; refused?: { code: string }[] };

let installation: Installation;
let keys: {
  readonly viewer: string;
  readonly operator: string;
  readonly admin: string;
  readonly rival: string;
};
let runId: string;

beforeEach(async () => {
  installation = new Installation();
  const roles = (role: 'viewer' | 'operator' | 'admin', tenantId = 'acme') =>
    installation.key(`${role}-${tenantId}`, { tenantId, roles: [role] });
  keys = {
    viewer: await roles('viewer'),
    operator: await roles('operator'),
    admin: await roles('admin'),
    rival: await roles('admin', 'rival'),
  };
  const started = await installation.post(keys.admin, { type: 'echo', input: { text: 'hello' } });
  runId = ((await started.json()) as { runId: string }).runId;
  await installation.world.run();
});

async function ask(
  key: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Body; replayed: boolean }> {
  const answer = await installation.api.request(`/v1/runs/${runId}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  const replayed = answer.headers.get('idempotency-replayed') === 'true';
  return { status: answer.status, body: (await answer.json()) as Body, replayed };
}

const consistency = (key = keys.operator) => ask(key, '/consistency');
const repair = (apply?: boolean, key = keys.admin, headers?: Record<string, string>) =>
  ask(key, `/repair${apply === undefined ? '' : `?apply=${apply}`}`, {
    method: 'POST',
    ...(headers ? { headers } : {}),
  });

function documents(): RunDocuments {
  const { runs, orphans } = installation.world.db;
  const run = runs.get(runId) ?? orphans.get(runId);
  if (!run) throw new Error('the run is gone');
  return run;
}

function loseSnapshot(): void {
  const { db } = installation.world;
  db.orphans.set(runId, documents());
  db.runs.delete(runId);
}

test('a consistent run is reported as consistent', async () => {
  const { status, body } = await consistency();
  expect(status).toBe(200);
  expect(body).toMatchObject({
    runId,
    verdict: 'consistent',
    head: documents().events.length,
    problems: [],
    unread: [],
  });
  expect((await repair(true)).body).toMatchObject({ outcome: 'sound', changes: [], refused: [], events: [] });
});

describe('a run without its document', () => {
  beforeEach(loseSnapshot);

  test('is found, planned, repaired once, and then read as before', async () => {
    expect((await ask(keys.viewer, '')).status).toBe(404);
    expect((await consistency()).body).toMatchObject({
      verdict: 'healable',
      problems: [{ code: 'SNAPSHOT_MISSING', severity: 'error', healable: true, subject: 'run' }],
    });
    const planned = await repair();
    expect(planned.body).toMatchObject({
      outcome: 'planned',
      changes: [{ subject: 'run', action: 'create', fixes: ['SNAPSHOT_MISSING'] }],
      events: [],
    });
    expect(installation.world.db.runs.has(runId)).toBe(false);

    const key = { 'idempotency-key': 'once' };
    const applied = await repair(true, keys.admin, key);
    expect(applied.body).toMatchObject({ outcome: 'applied', events: [documents().events.length] });
    expect((await ask(keys.viewer, '')).body).toMatchObject({ status: 'completed' });
    expect(await repair(true, keys.admin, key)).toEqual({ ...applied, replayed: true });
    expect((await repair(true)).body).toMatchObject({ outcome: 'sound' });
    expect((await consistency()).body).toMatchObject({ verdict: 'consistent' });
    const [told] = documents().events.slice(-1);
    expect(told).toMatchObject({
      type: 'snapshot_repaired',
      actor: 'c.admin-acme',
      data: { problems: ['SNAPSHOT_MISSING'], documents: ['run'] },
    });
  });

  test('is still visible to its tenant only', async () => {
    for (const answer of [
      await consistency(keys.rival),
      await repair(false, keys.rival),
      await repair(true, keys.rival),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'RUN_NOT_FOUND']);
    }
  });
});

test('a change is shown with the values before and after it, truncated where they are long', async () => {
  const run = documents();
  run.snapshot = { ...run.snapshot, status: 'failed', currentStep: 'x'.repeat(500) };
  const { body } = await repair();
  const [change] = body.changes as { differences: { member: string; before?: string; after?: string }[] }[];
  expect(change?.differences).toEqual([
    { member: 'currentStep', before: expect.stringMatching(/^"x{118}…$/) },
    { member: 'status', before: '"failed"', after: '"completed"' },
  ]);
});

test('a broken journal is reported, and its repair refused', async () => {
  documents().events.splice(2, 1);
  expect((await consistency()).body).toMatchObject({ verdict: 'broken', problems: [{ healable: false }] });
  const { status, body } = await repair(true);
  expect([status, body.outcome, body.changes, body.events]).toEqual([200, 'refused', [], []]);
  expect(body.refused).toMatchObject([{ code: 'JOURNAL_FORK', help: expect.stringContaining('backup') }]);
});

test('a check requires an operator, a repair an admin', async () => {
  expect((await consistency(keys.viewer)).status).toBe(403);
  expect((await repair(false, keys.viewer)).status).toBe(403);
  expect((await repair(false, keys.operator)).status).toBe(200);
  expect((await repair(undefined, keys.operator)).status).toBe(200);
  expect((await repair(true, keys.operator)).status).toBe(403);
  expect((await repair(true, keys.admin)).status).toBe(200);
});

test('a dry run and a repair are different requests, and any other value is refused', async () => {
  const key = { 'idempotency-key': 'mine' };
  expect((await repair(false, keys.admin, key)).status).toBe(200);
  expect((await repair(true, keys.admin, key)).body).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  const { status, body } = await ask(keys.admin, '/repair?apply=yes', { method: 'POST' });
  expect([status, body.code, body.field]).toEqual([400, 'INVALID_INPUT', 'apply']);
});

test('thousands of problems are counted, but not all shown', async () => {
  const { steps } = documents();
  const [one] = steps.values();
  for (let i = 0; i < 300; i += 1) steps.set(`s${i}`, { ...one, id: `s${i}` } as never);
  const { body } = await consistency();
  expect([body.problems?.length, body.more]).toEqual([200, 100]);
  expect(await repair(true)).toMatchObject({ status: 200, body: { outcome: 'applied', more: 100 } });
  const deps = {
    ...installation.apiDeps,
    reader: installation.apiDeps.integrity,
    payloads: installation.world.store,
  };
  const read = await readDocuments(deps, runId, () => true);
  expect(read && checkRun(read.run)).toEqual([]);
});
