import { Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { lazyCommitChannel } from '../../packages/cairn/src/platform/clients/commit-channel.ts';
import { GRPC_STATUS } from '../../packages/cairn/src/ports/grpc-outcome.ts';
import { EncodedBatch } from '../../packages/cairn/src/store/commits/encoded-batch.ts';
import { libraryBatch, type StoreBatch } from '../../packages/cairn/src/store/commits/store-batch.ts';
import { type FirestoreServer, startFirestoreServer } from '../../packages/local-firestore/src/server.ts';

const PROJECT = 'demo-batches';
let server: FirestoreServer;
let db: Firestore;
beforeAll(async () => {
  server = await startFirestoreServer({ storage: { kind: 'memory' } });
  db = new Firestore({ projectId: PROJECT, host: server.host, ssl: false });
});
afterAll(async () => {
  await db.terminate();
  await server.stop();
});

const encoded = () => new EncodedBatch(lazyCommitChannel({ project: PROJECT, emulator: server.host }));

test.each<[string, () => StoreBatch]>([
  ['encoded batch', encoded],
  ['batch of the client library', () => libraryBatch(db)],
])('the %s writes by path, and refuses to update a document that is missing', async (_, newBatch) => {
  const { path } = db.collection('runs').doc();
  const update = () => {
    const batch = newBatch();
    batch.update(path, { status: 'b' });
    return batch.commit();
  };
  await expect(update()).rejects.toMatchObject({ code: GRPC_STATUS.NOT_FOUND });
  expect((await db.doc(path).get()).exists).toBe(false);

  const first = newBatch();
  first.create(path, { status: 'a', kept: 1 });
  const [created] = await first.commit();
  await update();
  expect((await db.doc(path).get()).data()).toEqual({ status: 'b', kept: 1 });

  const stale = newBatch();
  stale.update(path, { status: 'c' }, { lastUpdateTime: created?.writeTime as never });
  await expect(stale.commit()).rejects.toMatchObject({ code: GRPC_STATUS.FAILED_PRECONDITION });
  const last = newBatch();
  last.delete(path);
  await last.commit();
  expect((await db.doc(path).get()).exists).toBe(false);
});
