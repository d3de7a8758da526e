import { Firestore } from '@google-cloud/firestore';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { withDeadlines } from '../../../packages/cairn/src/platform/clients/bounded.ts';
import { lazyCommitChannel } from '../../../packages/cairn/src/platform/clients/commit-channel.ts';
import { systemClock } from '../../../packages/cairn/src/platform/clock.ts';
import { GRPC_STATUS } from '../../../packages/cairn/src/ports/grpc-outcome.ts';
import { OutcomeUnknown, StoreRefused } from '../../../packages/cairn/src/ports/store-errors.ts';
import { call } from '../../../packages/cairn/src/store/call.ts';
import { EncodedBatch } from '../../../packages/cairn/src/store/commits/encoded-batch.ts';
import { FirestoreIdempotencyStore } from '../../../packages/cairn/src/store/firestore-idempotency-store.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { beginning, idempotencyRecord, move, succeeded, T0 } from '../../conformance/support/run-fixture.ts';
import { HostileGrpc, type Mood } from '../../support/hostile-grpc.ts';

/** Deadline of calls without a response, which is the duration of each call on any machine. */
const SOON_MS = 150;
const NEVER = { commitMs: SOON_MS, readMs: SOON_MS };
/** Deadline for a store that responds. */
const LONG = { commitMs: 60_000, readMs: 60_000 };

let server: FirestoreServer;
let hostile: HostileGrpc;
let host: string;
const clients: Firestore[] = [];

beforeAll(async () => {
  process.env.METADATA_SERVER_DETECTION = 'none';
  server = await startFirestoreServer({ storage: { kind: 'memory' }, indexesFile: 'firestore.indexes.json' });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.terminate()));
  await server.stop();
});
// Each test has its own server: a client that timed out while connecting still sends its request, which must not count for another call.
beforeEach(async () => {
  hostile = new HostileGrpc(server.host);
  host = await hostile.start();
});
afterEach(() => hostile.stop());

/** Each is one request. */
const CALLS = [
  'start',
  'commit',
  'load',
  'readEvents',
  'readCheckpoints',
  'dueRuns',
  'writePayload',
  'createMemo',
  'createRecord',
  'count',
] as const;

function storesWith(deadlines: typeof LONG) {
  const project = `hostile-${clients.length}`;
  const db = withDeadlines(new Firestore({ projectId: project, host, ssl: false }), {
    clock: systemClock,
    deadlines,
  });
  clients.push(db);
  const channel = lazyCommitChannel({ project, emulator: host, deadlineMs: () => deadlines.commitMs });
  const runs = new FirestoreRunStore(db, undefined, () => new EncodedBatch(channel));
  const records = new FirestoreIdempotencyStore(db);
  const { state } = beginning('run_1');
  const commit = move(state, [succeeded('size')], { snapshot: true }).commit;
  const calls: Record<(typeof CALLS)[number], () => Promise<unknown>> = {
    start: () => runs.start(beginning('run_1')),
    commit: () => runs.commit(commit),
    load: () => runs.load('run_1'),
    readEvents: () => runs.readEvents('run_1', 0, 10),
    readCheckpoints: () => runs.readCheckpoints('run_1', [2]),
    dueRuns: () => runs.dueRuns(T0, 1),
    writePayload: () => runs.writePayload('run_1', '"large"'),
    createMemo: () => runs.createMemo('run_1', { step: 's', revision: 1, name: 'n', text: '1' }),
    createRecord: () => records.create(idempotencyRecord('k')),
    count: () => call('count', () => db.collection('gwi_runs').count().get()),
  };
  return { runs, calls };
}

describe.each<[string, Mood, readonly number[]]>([
  ['is deaf', 'deaf', [0]],
  // The deadline may pass while the client connects.
  ['is silent', 'silent', [0, 1]],
  ['is unavailable', GRPC_STATUS.UNAVAILABLE, [1]],
  ['is exhausted', GRPC_STATUS.RESOURCE_EXHAUSTED, [1]],
])('a store that %s', (_, mood, arrived) => {
  test.each(CALLS)('is called once by %s, which then reports an unknown outcome', async (name) => {
    const { calls } = storesWith(mood === 'deaf' || mood === 'silent' ? NEVER : LONG);
    hostile.mood = mood;
    const error = await calls[name]().catch((thrown: unknown) => thrown);
    expect(error).toEqual(expect.any(OutcomeUnknown));
    expect(arrived).toContain(hostile.requests.length);
  });
});

test('a store that recovers is used again by the same clients', async () => {
  const { runs } = storesWith(LONG);
  hostile.mood = GRPC_STATUS.UNAVAILABLE;
  await expect(runs.start(beginning('run_1'))).rejects.toThrow(OutcomeUnknown);
  hostile.heal();
  expect(await runs.start(beginning('run_1'))).toMatchObject({ kind: 'committed' });
  expect(await runs.load('run_1')).toMatchObject({ state: { id: 'run_1' } });
});

test('a store that refuses permanently is called once', async () => {
  const { calls } = storesWith(LONG);
  for (const [mood, reason] of [
    [GRPC_STATUS.INVALID_ARGUMENT, 'request'],
    [GRPC_STATUS.PERMISSION_DENIED, 'installation'],
  ] as const) {
    hostile.mood = mood;
    for (const [name, send] of Object.entries(calls)) {
      hostile.requests.length = 0;
      const error = await send().catch((thrown: unknown) => thrown);
      expect([name, error]).toEqual([name, expect.any(StoreRefused)]);
      expect([name, error, hostile.requests.length]).toMatchObject([name, { code: mood, reason }, 1]);
    }
  }
});
