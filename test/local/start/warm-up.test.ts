import { join } from 'node:path';
import { movableClock } from '@cairn/local-kit/time/clock';
import { expect, test } from '@jest/globals';
import { startLocalCloud } from '../../../packages/local/src/cloud.ts';
import { openDevValues } from '../../../packages/local/src/data-dir/dev-values.ts';
import { startWarmUp, type WarmUpHost } from '../../../packages/local/src/warm-up.ts';
import { builtFunctions } from '../../../scripts/test-functions/built.ts';

/** Environment of a cloud that does not count as short-lived. */
const LASTING = { CAIRN_SHORT_LIVED: '' };
/** Functions of two installations; the first exported one is not the first created one. */
const FUNCTIONS = builtFunctions(
  join(import.meta.dirname, '../../system/installations/fixtures/two-installations.ts'),
);

interface Meter {
  readonly firestore: { readonly byCollection: Readonly<Record<string, { readonly writes: number }>> };
  readonly tasks: object;
}

test('an idle worker is warmed up by runs that leave nothing behind', async () => {
  const lines: string[] = [];
  const cloud = await startLocalCloud({
    data: 'memory',
    functionsModule: FUNCTIONS,
    firebaseJson: 'none',
    env: LASTING,
    // Scheduled functions are called only once, at the start.
    tickSeconds: 3_600,
    keepsSpare: false,
    log: (line) => lines.push(line),
    output: (line) => lines.push(line),
  });
  try {
    const headers = { authorization: `Bearer ${cloud.apiKey}` };
    const get = async <T>(url: string) => (await (await fetch(url, { headers })).json()) as T;
    expect(await cloud.warmedUp).toBe(200);
    const { firestore, tasks } = await get<Meter>(`${cloud.control}/meter`);
    const written = Object.entries(firestore.byCollection).filter(([, { writes }]) => writes > 0);
    // Heartbeats of the scheduled functions.
    expect(written.map(([collection]) => collection).sort()).toEqual(['blog_config', 'shop_config']);
    expect(tasks).toMatchObject({ created: 0 });
    for (const one of ['shop', 'blog'])
      expect(await get(`${cloud.functionsUrl}/${one}-api/v1/runs`)).toMatchObject({ items: [] });
    expect(lines.filter((line) => !/ does not exist: the gateway |runs_sampled/.test(line))).toEqual([]);
  } finally {
    await cloud.stop();
  }
});

type Worker = NonNullable<WarmUpHost['warmWorker']>;

function started({ worker, idleMs = 60_000 }: { worker?: Partial<Worker>; idleMs?: number }, env = LASTING) {
  const log: string[] = [];
  const told: string[] = [];
  const ends = Promise.withResolvers<never>();
  const warmWorker: Worker = {
    port: 1,
    link: undefined,
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
    host: { warmWorker: worker && warmWorker, idleMs, loadIdleWorkers() {} },
    machineNow: Date.now,
  });
  return { warmUp, log, told, end: () => ends.resolve({} as never) };
}

test('a worker whose functions have no such installation is left alone, without a log line', async () => {
  const { warmUp, log, told } = started({ worker: { serveWarmUp: async () => false } });
  expect(await warmUp.ended).toBe(0);
  expect({ log, told }).toEqual({ log: [], told: ['end'] });
});

test('a worker that fails ends it with a log line about the effect', async () => {
  const { warmUp, log, told } = started({ worker: {} });
  expect(await warmUp.ended).toBe(0);
  expect(log).toEqual([
    expect.stringMatching(/^the warm-up failed, so the first runs are slower: Error: POST \/v1\/runs: 503/),
  ]);
  expect(told).toEqual(['end']);
});

test('a worker that ends during a run ends it without a log line', async () => {
  const dying = async () => {
    end();
    return true;
  };
  const { warmUp, log, end, told } = started({ worker: { serveWarmUp: dying } });
  expect(await warmUp.ended).toBe(0);
  expect({ log, told }).toEqual({ log: [], told: ['end'] });
});

test.each([
  ['without a worker', {}],
  ['beside requests of users', { worker: {}, idleMs: 0 }],
])('%s it touches nothing until it is stopped', async (_, host) => {
  const { warmUp, log, told } = started(host);
  await warmUp.stop();
  expect([await warmUp.ended, log, told]).toEqual([0, [], []]);
});

test('the clouds of tests are not warmed up', async () => {
  const { warmUp, log, told } = started({ worker: {} }, { CAIRN_SHORT_LIVED: '1' });
  expect([await warmUp.ended, log, told]).toEqual([0, [], []]);
});
