/** The index of matches on the local Firestore, which requires the declared indexes as Google's does. */
import type { Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RunStatus } from '../../../packages/cairn/src/core/run/status.ts';
import { matchOf } from '../../../packages/cairn/src/core/search/match.ts';
import { IndexedRuns } from '../../../packages/cairn/src/operations/search/indexed-runs.ts';
import { matchingRuns } from '../../../packages/cairn/src/operations/search/matching-runs.ts';
import type { RunFilter } from '../../../packages/cairn/src/ports/run-store.ts';
import { encodeNewSnapshot } from '../../../packages/cairn/src/store/codec/snapshot.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { FirestoreRunFinder } from '../../../packages/cairn/src/store/lists/firestore-run-finder.ts';
import { Paths } from '../../../packages/cairn/src/store/paths.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { beginning, T0 } from '../../conformance/support/run-fixture.ts';
import { connect } from '../../local/firestore/support/client.ts';

/** Number of newer runs that do not match: more than ten pages. */
const NEWER = 11_000;
const WRITES_A_BATCH = 500;
const tenantId = 'acme';

let server: FirestoreServer;
let db: Firestore;
beforeAll(async () => {
  const indexesFile = `${import.meta.dirname}/../../../firestore.indexes.json`;
  server = await startFirestoreServer({ storage: { kind: 'memory' }, indexesFile });
  db = connect(server.host, 'matching');
  const { state: first } = beginning('run_old', {
    identity: {
      threadId: 'Invoice-old',
      idempotencyKey: 'api:c.ci:old-key',
      tags: ['amount:250', 'customer:Zoe', 'due:2026-01-31'],
    },
  });
  await new Paths(db).run('run_old').create(encodeNewSnapshot(first));
  const { state } = beginning('run_new', { identity: { tags: ['amount:99', 'customer:ada'] } });
  const document = encodeNewSnapshot(state);
  for (let from = 0; from < NEWER; from += WRITES_A_BATCH) {
    const batch = db.batch();
    for (let i = from; i < Math.min(from + WRITES_A_BATCH, NEWER); i += 1) {
      const { createdAt } = encodeNewSnapshot({ ...state, createdAt: T0 + 1 + i });
      batch.create(new Paths(db).run(`run_${i}`), { ...document, id: `run_${i}`, createdAt });
    }
    await batch.commit();
  }
});
afterAll(async () => {
  await db.terminate();
  await server.stop();
});

async function found(text: string, filter: Partial<RunFilter> = {}, limit = 20): Promise<readonly string[]> {
  const indexedRuns = new IndexedRuns(new FirestoreRunFinder(db), { now: () => T0 + NEWER });
  const store = new FirestoreRunStore(db);
  const { items, next } = await matchingRuns(
    { store, indexedRuns },
    { tenantId, match: matchOf(text), ...filter },
    { limit },
  );
  expect([text, next]).toEqual([text, undefined]);
  return items.map(({ state }) => state.id);
}

const STATUSES: readonly RunStatus[] = [
  'pending',
  'running',
  'replaying',
  'awaiting_approval',
  'waiting_external',
  'interrupted',
];

test.each<[string, Partial<RunFilter>]>([
  ['amount>100', {}],
  ['amount>=250', { topLevel: true }],
  ['amount>100', { status: 'pending', type: 'review-pull-request' }],
  ['amount>100', { status: STATUSES, stopKind: undefined }],
  ['amount>100', { createdBefore: T0 + 1 }],
  ['customer:Z*', {}],
  ['zo', { topLevel: true }],
  ['invoice-o', { status: STATUSES }],
  ['old-ke', { type: 'review-pull-request' }],
  ['due<2026-02-01', {}],
  ['amount>100', { waitsFor: undefined, status: ['pending', 'awaiting_approval'] }],
])(
  '%s with %j finds the oldest of more than eleven thousand runs on the first page',
  async (text, filter) => {
    expect(await found(text, filter)).toEqual(['run_old']);
  },
);

test.each<[string, Partial<RunFilter>]>([
  ['amount>250', {}],
  ['amount<99', {}],
  ['amount>100', { tenantId: 'other' }],
  ['amount>100', { status: 'awaiting_approval' }],
  ['Amount>100', {}],
  ['customer:z*', { tenantId: 'other' }],
  ['nobody', {}],
])('%s with %j finds none, and reads no further page', async (text, filter) => {
  expect(await found(text, filter)).toEqual([]);
});
