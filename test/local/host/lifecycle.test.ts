import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { startLocalCloud } from '../../../packages/local/src/cloud.ts';
import { startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { isAlive } from '../../support/processes.ts';
import { until } from '../support.ts';
import { type CloudFixture, enqueueWork, startFixture } from './cloud-fixture.ts';

let fixture: CloudFixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

test('several workers share the requests; stopping waits for a running task and leaves no process', async () => {
  fixture = await startFixture({ workers: 2 });
  const { cloud } = fixture;
  const { workers, roles } = cloud.pids;
  expect(new Set(roles.tasks).size).toBe(2);
  const answers = await Promise.all(Array.from({ length: 4 }, () => fetch(`${cloud.gateway}/alone`)));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);

  await enqueueWork(cloud, { id: 'last', once: 'slow' });
  await until(() => fixture?.trace('work').length === 1, 'the task to start');
  await cloud.stop();
  expect(workers.some(isAlive)).toBe(false);
  // A spare that is still starting has no requests to finish.
  expect(fixture.trace('sigterm').map(({ pid }) => pid)).toEqual(
    expect.arrayContaining([...(roles.requests ?? []), ...(roles.tasks ?? [])]),
  );
  expect(fixture.trace('work-done')).toHaveLength(1);
});

test('a scheduled function fires at once and then every tick', async () => {
  fixture = await startFixture({ tickSeconds: 0.1 });
  await until(() => (fixture?.trace('minutely').length ?? 0) >= 3, 'three ticks');
  const [first] = fixture.trace('minutely');
  expect(first?.jobName).toBe('firebase-schedule-minutely-us-central1');
  expect(Date.parse(String(first?.scheduleTime))).not.toBeNaN();
});

test('environment variables take precedence: Firestore is not started, and no secret is generated', async () => {
  const outside = await startFirestoreServer({ storage: { kind: 'memory' } });
  const env = { FIRESTORE_EMULATOR_HOST: outside.host, GITHUB_WEBHOOK_SECRET: 'from outside' };
  fixture = await startFixture({ env });
  const { cloud } = fixture;
  expect(cloud.firestore).toBe(outside.host);
  expect(cloud.secrets).toEqual({ github: 'from outside' });
  const seen = (await (await fetch(`${cloud.gateway}/environment`)).json()) as { secret: string };
  expect(seen.secret).toBe('from outside');
  expect((await fetch(`${cloud.control}/meter`)).status).toBe(501);
  const { byCollection } = outside.meter.snapshot();
  expect(byCollection).toMatchObject({ gwi_clients: { writes: 1 } });
  await outside.stop();
});

test('a module that cannot be loaded fails the start, with the reason and what to do, once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-broken-'));
  const functionsModule = join(folder, 'index.ts');
  writeFileSync(
    functionsModule,
    "throw Object.assign(new Error('broken on purpose'), { help: 'Leave that out.' });\n",
  );
  const received: string[] = [];
  const start = startLocalCloud({ data: 'memory', functionsModule, log: (line) => received.push(line) });
  await expect(start).rejects.toThrow(
    /could not be loaded:\nError: broken on purpose\nLeave that out\.\n\s+at .*index\.ts/s,
  );
  await expect(start).rejects.toHaveProperty('name', 'FunctionsNotLoadedError');
  // No further worker is started in vain.
  expect(received).toEqual([]);
});
