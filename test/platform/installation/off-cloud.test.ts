import { afterEach, expect, test } from '@jest/globals';
import { lazyQueue } from '../../../packages/cairn/src/platform/clients/tasks.ts';
import { systemClock } from '../../../packages/cairn/src/platform/clock.ts';

const { fetch } = globalThis;
afterEach(() => {
  globalThis.fetch = fetch;
});

test("an enqueue outside of Google Cloud, such as in Firebase's emulators, explains how to dispatch runs there", async () => {
  globalThis.fetch = () => Promise.reject(new TypeError('fetch failed'));
  const target = (name: string) => ({ name, targetUrl: `http://127.0.0.1:1/${name}` });
  const settings = {
    project: 'demo-cairn',
    region: 'us-central1',
    tasksHost: undefined,
    wireHosts: new Set<string>(),
    drive: { shared: target('drive'), alone: target('driveAlone') },
    pools: {},
    serviceAccount: undefined,
  };
  const random = { unit: () => 0, token: () => 't', runId: () => 'run_1' };
  const queue = lazyQueue({ settings, clock: systemClock, random });
  await expect(queue.enqueue({ runId: 'run_a', reason: 'start' })).rejects.toThrow(/cairn dev/);
});
