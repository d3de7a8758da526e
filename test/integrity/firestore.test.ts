import type { DocumentReference, Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkRun } from '../../packages/cairn/src/core/integrity/check-run.ts';
import { readDocuments } from '../../packages/cairn/src/operations/integrity/read-documents.ts';
import { repairRun } from '../../packages/cairn/src/operations/integrity/repair.ts';
import { recordCodec } from '../../packages/cairn/src/store/codec/access.ts';
import { mailboxCodec } from '../../packages/cairn/src/store/codec/documents.ts';
import type { Members } from '../../packages/cairn/src/store/codec/kinds.ts';
import { Paths } from '../../packages/cairn/src/store/paths.ts';
import { firestoreHarness } from '../conformance/support/harness.firestore.ts';
import type { Stores } from '../conformance/support/harness.ts';
import { type Bench, TENANT } from './support/bench.ts';
import { MAILBOX } from './support/cases/case.ts';
import { DOCUMENTS } from './support/cases/documents.ts';
import { SNAPSHOT } from './support/cases/snapshot.ts';

/** The same damage in real documents, read and repaired through the real client library. */
const harness = firestoreHarness();
let stores: Stores;
let db: Firestore;
beforeAll(async () => {
  stores = await harness.make();
  db = harness.db();
});
afterAll(() => harness.close());

/** Takes the place of whatever was stored before: runs of pretended worlds have the same ids. */
async function store({ world, shelf }: Bench): Promise<void> {
  const paths = new Paths(db);
  const run = paths.run(shelf.runId);
  const documents = new Map<DocumentReference, Members>();
  for (const { folder, id, members } of shelf.all())
    documents.set(folder === 'runs' ? run : run.collection(folder).doc(id), members);
  for (const { mailbox } of world.db.mailboxes.values())
    documents.set(paths.mailbox(mailbox), mailboxCodec.encode(mailbox));
  for (const { record } of world.db.records.values())
    documents.set(paths.idempotencyRecord(record.key), recordCodec.encode(record));
  const clean = db.batch();
  for (const folder of ['events', 'checkpoints', 'steps'])
    for (const document of await run.collection(folder).listDocuments()) clean.delete(document);
  clean.delete(run);
  clean.delete(paths.mailbox(MAILBOX));
  await clean.commit();
  const batch = db.batch();
  for (const [document, members] of documents) batch.set(document, members);
  await batch.commit();
}

/** One of each way to write; what the others have in common with these is shown without a server. */
const WAYS = [
  'SNAPSHOT_MISSING',
  'SNAPSHOT_UNREADABLE',
  'CHECKPOINT_ORPHANED',
  'STEP_MISSING',
  'STEP_DIFFERENT',
];
const cases = [...Map.groupBy([...SNAPSHOT, ...DOCUMENTS], ({ code }) => code).values()].flatMap(([one]) =>
  one && WAYS.includes(one.code) ? [[one.code, one.how, one] as const] : [],
);

test.each(cases)('%s: %s', async (code, _how, { run, damage, repair }) => {
  const bench = await run();
  damage(bench);
  const { runId, deps } = bench;
  await store(bench);
  const inFirestore = { ...deps, reader: stores.integrity, repairs: stores.integrity };
  const problems = async () => {
    const read = await readDocuments(inFirestore, runId, () => true);
    return read ? checkRun(read.run) : [];
  };
  const found = await problems();
  expect(found).toEqual(await bench.check());
  expect(found.map((problem) => problem.code)).toContain(code);
  const repairRequest = { runId, tenantId: TENANT, actor: 'c.operator' };
  expect((await repairRun(inFirestore, { ...repairRequest, apply: false })).events).toEqual([]);
  const report = await repairRun(inFirestore, { ...repairRequest, apply: true });
  expect([report.outcome, report.refused]).toEqual(
    repair === 'healed' ? ['applied', []] : ['refused', await bench.check()],
  );
  expect(await problems()).toEqual(repair === 'healed' ? [] : found);
  expect((await repairRun(inFirestore, { ...repairRequest, apply: true })).events).toEqual([]);
});
