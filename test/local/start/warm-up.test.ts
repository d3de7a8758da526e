import { movableClock } from '@cairn/local-kit/time/clock';
import { expect, test } from '@jest/globals';
import { startLocalCloud } from '../../../packages/local/src/cloud.ts';
import { openDevValues } from '../../../packages/local/src/data-dir/dev-values.ts';
import { startWarmUp, type WarmWorker } from '../../../packages/local/src/warm-up.ts';

/** Environment of a cloud that is not told that it ends soon. */
const LASTING = { CAIRN_SHORT_LIVED: '' };

interface Meter {
  readonly firestore: { readonly byRun: object };
  readonly tasks: object;
}

interface Runs {
  readonly items: readonly { readonly id: string }[];
}

test('an idle worker is warmed up by runs that leave nothing behind', async () => {
  const log: string[] = [];
  const lines: string[] = [];
  const cloud = await startLocalCloud({
    data: 'memory',
    env: LASTING,
    // The scheduled functions would be among what is counted.
    tickSeconds: 3_600,
    keepsSpare: false,
    log: (line) => log.push(line),
    output: (line) => lines.push(line),
  });
  try {
    const headers = { authorization: `Bearer ${cloud.apiKey}` };
    const get = async <T>(url: string) => (await (await fetch(url, { headers })).json()) as T;
    expect(await cloud.warmedUp).toBe(60);
    const { firestore, tasks } = await get<Meter>(`${cloud.control}/meter`);
    expect(firestore.byRun).toEqual({});
    expect(tasks).toMatchObject({ created: 0 });
    expect((await get<Runs>(`${cloud.gateway}/v1/runs`)).items).toEqual([]);
    // A name that no export can have is served by frames only.
    const outside = await fetch(`${cloud.functionsUrl}/cairn:warm-up-api/v1/runs`, { headers });
    expect(outside.status).toBe(404);
    expect([...log, ...lines].filter((line) => !line.includes('runs_sampled'))).toEqual([]);
  } finally {
    await cloud.stop();
  }
});

function started(worker: Partial<WarmWorker> | undefined, env: Record<string, string> = LASTING) {
  const log: string[] = [];
  const ends = Promise.withResolvers<never>();
  const told: string[] = [];
  const idle: WarmWorker = {
    port: 1,
    link: undefined,
    idleMs: 60_000,
    ended: ends.promise,
    serveWarmUp: async () => true,
    endWarmUp: () => void told.push('end'),
    ...worker,
  };
  const warmUp = startWarmUp({
    setting: {
      projectId: 'demo-cairn',
      clock: movableClock(Date.now),
      env,
      dev: openDevValues(undefined, () => 'secret'),
      log: (line) => log.push(line),
    },
    region: 'us-central1',
    store: { database: '(default)', collectionPrefix: 'gwi_' },
    worker: () => (worker ? idle : undefined),
  });
  return { warmUp, log, told, end: () => ends.resolve({} as never) };
}

test('a worker whose functions have no such installation is left alone, without a word', async () => {
  const { warmUp, log, told } = started({ serveWarmUp: async () => false });
  expect(await warmUp.ended).toBe(0);
  expect({ log, told }).toEqual({ log: [], told: ['end'] });
});

test('a worker that fails ends it with a line', async () => {
  const { warmUp, log, told } = started({});
  expect(await warmUp.ended).toBe(0);
  expect(log).toEqual([
    expect.stringMatching(/^the warm-up of the workers failed: Error: POST \/v1\/runs: 503/),
  ]);
  expect(told).toEqual(['end']);
});

test.each([
  ['without a worker', undefined],
  ['with a worker that serves users', { idleMs: 0 }],
  ['with a worker that moves its clock', { port: undefined }],
])('%s it waits until it is stopped', async (_, worker) => {
  const { warmUp, log } = started(worker);
  await warmUp.stop();
  expect([await warmUp.ended, log]).toEqual([0, []]);
});

test('a worker that has ended ends it without a word', async () => {
  const { warmUp, log, end } = started({ idleMs: 0 });
  end();
  expect([await warmUp.ended, log]).toEqual([0, []]);
});

test('the clouds of tests are not warmed up', async () => {
  const { warmUp } = started({}, { CAIRN_SHORT_LIVED: '1' });
  expect(await warmUp.ended).toBe(0);
});
