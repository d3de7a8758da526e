import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ControlPort, startControlPort } from '../../packages/local/src/control/control.ts';
import { controlRoutes } from '../../packages/local/src/control/routes.ts';
import type { StandInFault } from '../../packages/local/src/stand-in/faults.ts';
import { Faults } from '../../packages/local-firestore/src/faults.ts';
import { movableClock } from '../../packages/local-kit/src/time/clock.ts';

const began = Date.UTC(2026, 0, 1);
const calls: string[] = [];
const faults = new Faults();
const pubsubFaults = new Faults();
const githubFaults = new Faults<StandInFault>();
const slackFaults = new Faults<StandInFault>();
let port: ControlPort;

beforeAll(async () => {
  port = await startControlPort({
    port: 0,
    routes: controlRoutes({
      clock: movableClock(() => began),
      pids: () => ({ cloud: 1, workers: [2] }),
      counts: () => ({ tasks: { created: 3 } }),
      pubsub: { faults: pubsubFaults },
      github: { faults: githubFaults },
      slack: { faults: slackFaults },
      firestore: {
        faults,
        exportTo: (file) => calls.push(`export ${file}`),
        importFrom: (file) => calls.push(`import ${file}`),
        reset: (project) => calls.push(`reset ${project}`),
        meter: {
          snapshot: () => ({ total: { reads: 100_000, writes: 200_000, deletes: 300_000 } }),
          run: (runId) => (runId === 'a b' ? { reads: 0, writes: 5, deletes: 0 } : undefined),
          reset: () => calls.push('meter reset'),
        },
      },
    }),
  });
});
afterAll(() => port.stop());

async function ask(method: string, path: string, body?: string) {
  const answer = await fetch(`${port.url}${path}`, { method, ...(body !== undefined && { body }) });
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    json: (await answer.json()) as unknown,
  };
}

describe('the control port', () => {
  test.each([
    ['GET', '/pids', { cloud: 1, workers: [2] }],
    [
      'GET',
      '/meter',
      {
        firestore: { total: { reads: 100_000, writes: 200_000, deletes: 300_000 } },
        estimatedCostUsd: 0.03 + 2 * 0.09 + 3 * 0.01,
        tasks: { created: 3 },
      },
    ],
    ['GET', '/meter/tasks', { tasks: { created: 3 } }],
    ['GET', '/meter/runs/a%20b', { reads: 0, writes: 5, deletes: 0, estimatedCostUsd: 0.000_004_5 }],
  ])('%s %s', async (method, path, json) => {
    expect(await ask(method, path)).toEqual({ status: 200, type: 'application/json', json });
  });

  test('resets the meter and, by the emulator call, the documents of a project', async () => {
    calls.length = 0;
    expect((await ask('POST', '/meter/reset')).status).toBe(200);
    const path = '/emulator/v1/projects/demo-x/databases/(default)/documents';
    expect((await ask('DELETE', path)).status).toBe(200);
    expect(calls).toEqual(['meter reset', 'reset demo-x']);
  });

  test('sets, counts and clears the faults of Firestore', async () => {
    const rules = [{ call: 'Commit', probability: 1, times: 1, fault: { kind: 'aborted' } }];
    expect((await ask('PUT', '/faults', JSON.stringify({ seed: 7, rules }))).status).toBe(200);
    expect(faults.draw('RunQuery', () => [])).toBeUndefined();
    expect(faults.draw('Commit', () => [])).toEqual({ kind: 'aborted' });
    expect((await ask('GET', '/faults')).json).toEqual({ injected: { aborted: 1 } });
    await ask('DELETE', '/faults');
    expect((await ask('GET', '/faults')).json).toEqual({ injected: {} });
  });

  test.each([
    ['github', githubFaults],
    ['slack', slackFaults],
  ])('sets, counts and clears the faults of %s, which is not a Google service', async (name, faults) => {
    const fault = { kind: 'rate-limit', status: 429, retryAfterS: 3 };
    const rules = [{ call: 'POST /x', probability: 1, times: 1, fault }];
    const path = `/faults/${name}`;
    expect((await ask('PUT', path, JSON.stringify({ seed: 7, rules }))).status).toBe(200);
    expect(faults.draw('POST /y', () => [])).toBeUndefined();
    expect(faults.draw('POST /x', () => [])).toEqual(fault);
    expect((await ask('GET', path)).json).toEqual({ injected: { 'rate-limit': 1 } });
    await ask('DELETE', path);
    expect((await ask('GET', path)).json).toEqual({ injected: {} });
    const wrong = JSON.stringify({ seed: 7, rules: [{ probability: 1, fault: { kind: 'aborted' } }] });
    expect((await ask('PUT', path, wrong)).status).toBe(400);
  });

  test('sets, counts and clears the faults of Pub/Sub, which are not those of Firestore', async () => {
    const rules = [{ call: 'Publish', probability: 1, times: 1, fault: { kind: 'lost-answer' } }];
    expect((await ask('PUT', '/faults/pubsub', JSON.stringify({ seed: 7, rules }))).status).toBe(200);
    expect(faults.draw('Publish', () => [])).toBeUndefined();
    expect(pubsubFaults.draw('Publish', () => [])).toEqual({ kind: 'lost-answer' });
    expect((await ask('GET', '/faults/pubsub')).json).toEqual({ injected: { 'lost-answer': 1 } });
    await ask('DELETE', '/faults/pubsub');
    expect((await ask('GET', '/faults/pubsub')).json).toEqual({ injected: {} });
  });

  test.each([
    ['', /^the body: /],
    ['{"seed": 1}', /^rules: /],
    ['{"seed": -1, "rules": []}', /^seed: /],
    ['{"seed": 1, "rules": [{"probability": 2, "fault": {"kind": "aborted"}}]}', /^rules\.0\.probability: /],
    ['{"seed": 1, "rules": [{"probability": 1, "fault": {"kind": "flood"}}]}', /^rules\.0\.fault\.kind: /],
    ['{"seed": 1, "rules": [{"probabilty": 1, "fault": {"kind": "aborted"}}]}', /^rules\.0/],
  ])('fault rules %s are refused at the field', async (body, detail) => {
    const answer = await ask('PUT', '/faults', body);
    expect(answer).toMatchObject({ status: 400, type: 'application/problem+json' });
    expect((answer.json as { detail: string }).detail).toMatch(detail);
  });

  test('exports to a new file and imports from an existing one', async () => {
    calls.length = 0;
    const here = fileURLToPath(import.meta.url);
    const fresh = `${here}.copy`;
    expect((await ask('POST', '/export', JSON.stringify({ file: fresh }))).json).toEqual({ file: fresh });
    expect((await ask('POST', '/import', JSON.stringify({ file: here }))).json).toEqual({ file: here });
    expect(calls).toEqual([`export ${fresh}`, `import ${here}`]);
    expect((await ask('POST', '/export', JSON.stringify({ file: here }))).status).toBe(409);
    expect((await ask('POST', '/import', JSON.stringify({ file: fresh }))).status).toBe(404);
    expect((await ask('POST', '/export', '{"file": "relative"}')).status).toBe(400);
    expect(calls).toHaveLength(2);
  });

  test('a body over 1 MiB is 413', async () => {
    expect((await ask('POST', '/clock/advance', 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
  });

  test('refuses web pages', async () => {
    const headers = { origin: 'https://elsewhere.example' };
    const answer = await fetch(`${port.url}/clock/advance`, { method: 'POST', headers, body: '{"ms": 1}' });
    expect(answer.status).toBe(403);
  });

  test('refuses a rebound host name', async () => {
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${port.url}/pids`, { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await statusFor('rebound.example')).toBe(403);
    expect(await statusFor(`localhost:${new URL(port.url).port}`)).toBe(200);
  });

  test('moves the clock forward', async () => {
    const before = await ask('GET', '/clock');
    expect(before).toMatchObject({ status: 200, json: { now: '2026-01-01T00:00:00.000Z', offsetMs: 0 } });
    const moved = await ask('POST', '/clock/advance', '{"ms": 60000}');
    expect(moved.json).toEqual({ now: '2026-01-01T00:01:00.000Z', offsetMs: 60_000 });
  });

  test.each([
    ['GET', '/nothing', undefined, 404, /serves nothing at/],
    ['POST', '/pids', undefined, 405, /supports GET/],
    ['GET', '/meter/runs/unknown', undefined, 404, /no usage recorded/],
    ['GET', '/meter/runs/%zz', undefined, 400, /cannot be decoded/],
    ['POST', '/clock/advance', undefined, 400, /only moves forward/],
    ['POST', '/clock/advance', '{"ms": -1}', 400, /only moves forward/],
    ['POST', '/clock/advance', '{"ms": 1e300}', 400, /cannot be moved past/],
    ['POST', '/clock/advance', '{', 400, /not JSON/],
    ['DELETE', '/emulator/v1/projects/p/databases/other/documents', undefined, 501, /can be reset/],
  ])('%s %s with %s is %i', async (method, path, body, status, detail) => {
    const answer = await ask(method, path, body);
    expect(answer).toMatchObject({ status, type: 'application/problem+json' });
    expect((answer.json as { detail: string }).detail).toMatch(detail);
  });
});
