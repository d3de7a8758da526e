/** A complete copy of a database under another name, as a restore, a clone, or an import into a new database creates it. */
import { fileURLToPath } from 'node:url';
import { type CollectionReference, Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stoppedBy } from '../../packages/cairn/src/engine/admission.ts';
import { CachedRuntimeConfig } from '../../packages/cairn/src/engine/cached-runtime-config.ts';
import {
  beginRestore,
  noticeRestore,
  readRestore,
  releaseRestore,
} from '../../packages/cairn/src/operations/runtime/restore.ts';
import { FirestoreRuntimeConfigStore } from '../../packages/cairn/src/store/firestore-documents.ts';
import { FirestoreRunStatistics } from '../../packages/cairn/src/store/firestore-run-statistics.ts';
import { FirestoreRunStore } from '../../packages/cairn/src/store/firestore-run-store.ts';
import { VirtualClock } from '../../packages/cairn/src/testing/world/virtual-clock.ts';
import { type FirestoreServer, startFirestoreServer } from '../../packages/local-firestore/src/server.ts';
import { beginning } from '../conformance/support/run-fixture.ts';
import { SILENT, seededRandomness, World } from '../support/world.ts';

const OPS = { actor: 'c.ops', tenantId: 'acme' };
const PROJECT = 'shop';
let server: FirestoreServer;
const clients: Firestore[] = [];

function client(databaseId: string): Firestore {
  const [host = '', port] = server.host.split(':');
  const db = new Firestore({ projectId: PROJECT, databaseId, host: `${host}:${port}`, ssl: false });
  clients.push(db);
  return db;
}

/** An installation on one database, as its functions see it. */
function installation(databaseId: string) {
  const db = client(databaseId);
  const clock = new VirtualClock();
  const config = new FirestoreRuntimeConfigStore(db);
  const home = `projects/${PROJECT}/databases/${databaseId}`;
  const world = new World({ workflows: [] });
  const deps = {
    ...world.deps,
    clock,
    random: seededRandomness(1),
    log: SILENT,
    config,
    statistics: new FirestoreRunStatistics(db),
    home,
  };
  return { db, clock, deps, reader: () => new CachedRuntimeConfig(config, clock, home).current(0) };
}

async function copy(from: CollectionReference, to: Firestore): Promise<void> {
  for (const document of (await from.get()).docs) {
    await to.doc(document.ref.path).set(document.data());
    for (const below of await document.ref.listCollections()) await copy(below, to);
  }
}

async function copyAll(from: Firestore, to: Firestore): Promise<void> {
  for (const collection of await from.listCollections()) await copy(collection, to);
}

beforeAll(async () => {
  process.env.METADATA_SERVER_DETECTION = 'none';
  const indexesFile = fileURLToPath(new URL('../../firestore.indexes.json', import.meta.url));
  server = await startFirestoreServer({ storage: { kind: 'memory' }, indexesFile });
});
afterAll(async () => {
  await Promise.all(clients.map((one) => one.terminate()));
  await server.stop();
});

test('an installation on a copied database dispatches nothing until a person releases it', async () => {
  const first = installation('first');
  expect(await noticeRestore(first.deps)).toBe(false);
  expect(await noticeRestore(first.deps)).toBe(false);
  await new FirestoreRunStore(first.db).start(beginning('run_before'));

  const second = installation('second');
  await copyAll(first.db, second.db);
  expect((await new FirestoreRunStore(second.db).load('run_before'))?.state.status).toBe('pending');
  // Immediately, before any scan has recorded it.
  expect(stoppedBy(await second.reader())).toBe('restored');
  expect(await readRestore(second.deps)).toEqual({ isPaused: true, restore: undefined });

  second.clock.jump(5_000);
  const at = second.clock.now();
  expect(await noticeRestore(second.deps)).toBe(true);
  second.clock.jump(5_000);
  expect(await noticeRestore(second.deps)).toBe(true);
  const mark = { at, by: 'system', isPaused: true };
  expect(await readRestore(second.deps)).toEqual({ isPaused: true, restore: mark });
  expect(await beginRestore(second.deps, OPS)).toEqual(mark);
  expect(stoppedBy(await second.reader())).toBe('restored');

  expect((await releaseRestore(second.deps, OPS)).restore).toEqual({ ...mark, isPaused: false });
  expect((await releaseRestore(second.deps, OPS)).restore).toEqual({ ...mark, isPaused: false });
  expect(stoppedBy(await second.reader())).toBeUndefined();
  // The time of the restore remains, because earlier runs are still in doubt about their effects.
  expect((await second.reader()).restore?.at).toBe(at);
  expect(await noticeRestore(second.deps)).toBe(false);
  // The original database continues.
  expect(stoppedBy(await first.reader())).toBeUndefined();
});

test('a copy of a copy is paused again, with its own time', async () => {
  const third = installation('third');
  await copyAll(client('second'), third.db);
  third.clock.jump(3_600_000);
  const at = third.clock.now();
  expect(stoppedBy(await third.reader())).toBe('restored');
  expect(await noticeRestore(third.deps)).toBe(true);
  expect(await readRestore(third.deps)).toEqual({
    isPaused: true,
    restore: { at, by: 'system', isPaused: true },
  });
});

test('an import into the same database is marked by a person, once for each import', async () => {
  const same = installation('same');
  await noticeRestore(same.deps);
  const first = await beginRestore(same.deps, OPS);
  expect(first).toEqual({ at: same.clock.now(), by: 'c.ops', isPaused: true });
  await releaseRestore(same.deps, OPS);
  same.clock.jump(1_000);
  expect(await beginRestore(same.deps, OPS)).toEqual({ ...first, at: same.clock.now() });
});

test('a release without a restore changes nothing', async () => {
  const plain = installation('plain');
  await noticeRestore(plain.deps);
  expect(await releaseRestore(plain.deps, OPS)).toEqual({ restore: undefined, woken: 0 });
  expect(await readRestore(plain.deps)).toEqual({ isPaused: false, restore: undefined });
});
