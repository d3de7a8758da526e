import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CloudProcess, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import { linesIn } from '../../scripts/demo/notes.ts';
import { builtFunctions } from '../../scripts/test-functions/built.ts';
import { sign } from '../api/installation.ts';
import { signalTo } from '../support/processes.ts';
import { eventually, tryGet } from '../system/requests.ts';

/** The deployed functions as a whole, in worker processes behind the gateway, over real wire protocols. */
const folder = mkdtempSync(join(tmpdir(), 'cairn-deployed-'));
let cloud: CloudProcess;

beforeAll(async () => {
  const functionsModule = builtFunctions(join(import.meta.dirname, 'fixtures/functions.ts'));
  cloud = await startCloudProcess({ data: 'memory', functionsModule, keepsSpare: false });
});
afterAll(async () => {
  cloud.process.kill('SIGTERM');
  await cloud.ended;
  rmSync(folder, { recursive: true, force: true });
});

type Body = Record<string, unknown>;
type Events = { items: { type: string; data: Body }[] };

async function call(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const headers = {
    authorization: `Bearer ${cloud.ready.apiKey}`,
    ...(init.headers as Record<string, string>),
  };
  const answer = await fetch(`${cloud.ready.gateway}${path}`, { ...init, headers });
  return { status: answer.status, body: await answer.json() };
}

const completed = (runId: string) =>
  eventually(`the end of ${runId}`, async () => {
    const run = await tryGet<Body>(cloud.ready, `/v1/runs/${runId}`);
    return run?.status === 'completed' ? run : undefined;
  });

test('a signed delivery becomes a completed review, visible through the API, and once only', async () => {
  const events = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
    name: string;
    examples: Body[];
  }[];
  const payload = events
    .find(({ name }) => name === 'pull_request')
    ?.examples.find(({ action }) => action === 'opened');
  const body = JSON.stringify(payload);
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'pull_request',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-hub-signature-256': sign(body, cloud.ready.secrets.github),
  };
  const first = await call('/webhooks/github', { method: 'POST', headers, body });
  const again = await call('/webhooks/github', { method: 'POST', headers, body });
  const { runId } = first.body as { runId: string };
  expect([first.status, again.status]).toEqual([202, 200]);
  expect(again.body).toEqual({ duplicate: true, runId });
  expect(await completed(runId)).toMatchObject({
    environment: 'local',
    tenantId: 'local',
    result: { review: { headline: expect.stringContaining('#2') } },
  });
  const listed = await call('/v1/runs?repoId=Codertocat%2FHello-World');
  expect((listed.body as { items: Body[] }).items.map(({ id }) => id)).toEqual([runId]);
  const forged = await call('/webhooks/github', { method: 'POST', headers, body: `${body} ` });
  expect(forged.status).toBe(401);
});

test('an instance that is asked to end releases its run, and another continues it', async () => {
  const notes = join(folder, 'notes');
  const started = await call('/v1/runs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'patient', input: { notes } }),
  });
  expect(started.status).toBe(201);
  const { runId } = started.body as { runId: string };
  signalTo(Number(await eventually('the step to begin', () => linesIn(notes)[0])), 'SIGTERM');

  expect(await completed(runId)).toMatchObject({ resumeCount: 0, steps: { succeeded: 2 } });
  const workers = linesIn(notes);
  expect(workers).toHaveLength(2);
  expect(workers[1]).not.toBe(workers[0]);
  const { items } = (await call(`/v1/runs/${runId}/events?limit=100`)).body as Events;
  expect(items.filter(({ type }) => type === 'run_released')).toMatchObject([
    { data: { reason: 'shutdown' } },
  ]);
  expect(items.filter(({ type }) => type === 'orphan_detected')).toEqual([]);
  const finishedBefore = items.filter(
    ({ type, data }) => type === 'step_succeeded' && data.stepId === 'before',
  );
  expect(finishedBefore).toHaveLength(1);
});

test('health and unknown paths are answered as the API documents', async () => {
  expect(await call('/v1/healthz')).toMatchObject({ status: 200, body: { status: 'ok', store: 'ok' } });
  expect(await call('/v1/nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  expect(
    await call('/v1/runs', { headers: { authorization: 'Bearer cairn_dev_wrongwrongwrongwrong' } }),
  ).toMatchObject({ status: 401 });
});
