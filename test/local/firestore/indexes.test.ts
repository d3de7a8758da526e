import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Firestore, type Query, Timestamp } from '@google-cloud/firestore';
import { afterAll, describe, expect, test } from '@jest/globals';
import { indexLink } from '../../../packages/local-firestore/src/model/query/index-link.ts';
import { startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { loadProtocol } from '../../../packages/local-kit/src/wire/grpc-service.ts';
import { connect, startBench } from './support/client.ts';

const FAILED_PRECONDITION = 9;
const folder = mkdtempSync(join(tmpdir(), 'cairn-indexes-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function indexesFile(contents: object): string {
  const file = join(folder, `indexes-${files++}.json`);
  writeFileSync(file, JSON.stringify(contents));
  return file;
}

const byShard = (db: Firestore) =>
  db.collection('runs').where('shard', '==', 1).where('wakeAt', '<=', 5).orderBy('wakeAt');

/** Queries that fail without a declaration, and succeed with exactly the one in the error. */
const queries: [string, (db: Firestore) => Query][] = [
  ['an equality and a range', byShard],
  [
    'an in and a range',
    (db) => db.collection('runs').where('shard', 'in', [0, 1]).where('wakeAt', '<=', 5).orderBy('wakeAt'),
  ],
  ['two orders', (db) => db.collection('runs').orderBy('shard').orderBy('wakeAt', 'desc')],
  [
    'an equality and a descending order',
    (db) => db.collection('runs').where('shard', '==', 1).orderBy('wakeAt', 'desc'),
  ],
  [
    'an array membership and an order',
    (db) => db.collection('runs').where('tags', 'array-contains', 'x').orderBy('wakeAt'),
  ],
  ['a group by one field', (db) => db.collectionGroup('runs').where('shard', '==', 1)],
  ['a group by two', (db) => db.collectionGroup('runs').where('shard', '==', 1).orderBy('wakeAt')],
];

const Index = loadProtocol('@google-cloud/firestore', 'build/protos/admin_v1.json').lookupType(
  'google.firestore.admin.v1.Index',
);

interface LinkedIndex {
  readonly name: string;
  readonly queryScope: string;
  readonly fields: readonly {
    readonly fieldPath: string;
    readonly order?: string;
    readonly arrayConfig?: string;
  }[];
}

/** The index that the page of the console behind the link would create, without the order of names. */
function linkedIn(message: string): object {
  const [, encoded = ''] = /https:\/\/console\.firebase\.google\.com\S+create_\w+=(\S+)/.exec(message) ?? [];
  const index = Index.toObject(Index.decode(Buffer.from(encoded, 'base64url')), { enums: String });
  const { name, queryScope, fields } = index as LinkedIndex;
  const [, collectionGroup] = /collectionGroups\/([^/]+)/.exec(name) ?? [];
  return { collectionGroup, queryScope, fields: fields.filter(({ fieldPath }) => fieldPath !== '__name__') };
}

interface Declared {
  readonly collectionGroup: string;
  readonly queryScope?: string;
  readonly fields?: readonly object[];
  readonly fieldPath?: string;
  readonly indexes?: readonly { readonly queryScope: string; readonly order?: string }[];
}

function asLinked({ collectionGroup, queryScope, fields, fieldPath, indexes = [] }: Declared): object {
  const [only] = indexes;
  if (!only) return { collectionGroup, queryScope, fields };
  const { queryScope: scope, ...kind } = only;
  return { collectionGroup, queryScope: scope, fields: [{ fieldPath, ...kind }] };
}

test('the link of a refusal is the one that production gives', () => {
  // As published in an issue: https://github.com/RealDevSquad/website-backend/issues/2298
  const scope = {
    database: 'projects/realdevsquad-10012/databases/(default)',
    parent: [],
    collectionId: 'logs',
  };
  const fields = [
    { path: ['meta', 'userId'], kind: 'ascending' as const },
    { path: ['timestamp'], kind: 'descending' as const },
  ];
  const link = indexLink({
    scope: { ...scope, allDescendants: false },
    fields,
    nameDescending: true,
    isSingle: false,
  });
  expect(link).toBe(
    'https://console.firebase.google.com/v1/r/project/realdevsquad-10012/firestore/indexes?create_composite=' +
      'Ck9wcm9qZWN0cy9yZWFsZGV2c3F1YWQtMTAwMTIvZGF0YWJhc2VzLyhkZWZhdWx0KS9jb2xsZWN0aW9uR3JvdXBzL2xvZ3MvaW5kZXhlcy9f' +
      'EAEaDwoLbWV0YS51c2VySWQQARoNCgl0aW1lc3RhbXAQAhoMCghfX25hbWVfXxAC',
  );
});

describe('an enforced index', () => {
  test.each(queries)(
    '%s is refused until the index that the error names is declared',
    async (_what, query) => {
      const data = [
        { shard: 1, wakeAt: 5, tags: ['x'] },
        { shard: 1, wakeAt: 3, tags: ['x', 'y'] },
      ];
      const bare = await startBench({ indexesFile: indexesFile({}) });
      const refusal = await query(bare.db)
        .get()
        .catch((error) => error);
      await bare.stop();
      expect(refusal).toMatchObject({ code: FAILED_PRECONDITION });
      const [, list, json] = /under (\w+): (\{.*\})$/.exec(refusal.message) as unknown as [
        string,
        string,
        string,
      ];
      expect(linkedIn(refusal.message)).toEqual(asLinked(JSON.parse(json)));
      const declared = await startBench({ indexesFile: indexesFile({ [list]: [JSON.parse(json)] }) });
      await Promise.all(data.map((d, i) => declared.db.doc(`runs/r${i}`).set(d)));
      expect((await query(declared.db).get()).size).toBe(2);
      await declared.stop();
    },
  );

  test('is not required for equalities alone, for one order, or for queries that merged indexes cover', async () => {
    const fields = (equal: string) => [
      { fieldPath: equal, order: 'ASCENDING' },
      { fieldPath: 'at', order: 'ASCENDING' },
    ];
    const indexes = ['a', 'b'].map((f) => ({
      collectionGroup: 'c',
      queryScope: 'COLLECTION',
      fields: fields(f),
    }));
    const bench = await startBench({ indexesFile: indexesFile({ indexes }) });
    const c = bench.db.collection('c');
    await c.doc('x').set({ a: 1, b: 2, at: 3 });
    for (const query of [
      c.where('a', '==', 1).where('b', '==', 2),
      c.orderBy('a', 'desc'),
      c.where('at', '>', 0),
      c.where('a', '==', 1).where('b', '==', 2).orderBy('at'),
    ]) {
      expect((await query.get()).size).toBe(1);
    }
    await bench.stop();
  });

  test('serves its own directions only: limitToLast reverses the orders and needs the reversed index', async () => {
    const indexes = [
      {
        collectionGroup: 'runs',
        queryScope: 'COLLECTION',
        fields: ['shard', 'wakeAt'].map((fieldPath) => ({ fieldPath, order: 'ASCENDING' })),
      },
    ];
    const bench = await startBench({ indexesFile: indexesFile({ indexes }) });
    const query = bench.db.collection('runs').where('shard', '==', 1).orderBy('wakeAt');
    await bench.db.doc('runs/a').set({ shard: 1, wakeAt: 4 });
    expect((await query.limit(1).get()).size).toBe(1);
    await expect(query.limitToLast(1).get()).rejects.toMatchObject({
      code: FAILED_PRECONDITION,
      message: expect.stringContaining('"fieldPath":"wakeAt","order":"DESCENDING"'),
    });
    await bench.stop();
  });

  test('is missing for exempted fields, nested fields included', async () => {
    const fieldOverrides = [{ collectionGroup: 'c', fieldPath: 'big', indexes: [] }];
    const bench = await startBench({ indexesFile: indexesFile({ fieldOverrides }) });
    const c = bench.db.collection('c');
    await c.doc('x').set({ big: { inner: 1 }, small: 1 });
    expect((await c.where('small', '==', 1).get()).size).toBe(1);
    await expect(c.where('big.inner', '==', 1).get()).rejects.toMatchObject({
      code: FAILED_PRECONDITION,
      message: expect.stringContaining('"fieldPath":"big.inner"'),
    });
    await bench.stop();
  });

  test('is built for existing documents when it is declared later', async () => {
    const file = join(folder, 'grown.sqlite');
    const first = await startFirestoreServer({ storage: { kind: 'sqlite', file } });
    const before = connect(first.host);
    await before.doc('runs/old').set({ shard: 1, wakeAt: 4 });
    await before.terminate();
    await first.stop();
    const fields = ['shard', 'wakeAt'].map((fieldPath) => ({ fieldPath, order: 'ASCENDING' }));
    const indexes = [{ collectionGroup: 'runs', queryScope: 'COLLECTION', fields }];
    const second = await startBench({
      storage: { kind: 'sqlite', file },
      indexesFile: indexesFile({ indexes }),
    });
    expect((await byShard(second.db).get()).docs.map((d) => d.id)).toEqual(['old']);
    await second.stop();
  });
});

test('a collection group is complete and current from its first query on, also across restarts', async () => {
  const storage = { kind: 'sqlite', file: join(folder, 'listed.sqlite') } as const;
  const paths = ['c/1', 'x/1/c/1', 'x/1/y/2/c/3', 'c/2'];
  const deleted = 'x/1/c/1';
  const late = ['x/2/c/9', 'c/3'];
  const names = async (db: Firestore, group: string) => {
    const { docs } = await db.collectionGroup(group).get();
    return docs.map(({ ref }) => ref.path);
  };
  const all = [...paths, ...late].filter((path) => path !== deleted);
  const inOrder = ['c/1', 'c/2', 'c/3', 'x/1/y/2/c/3', 'x/2/c/9'];
  expect([...all].sort()).toEqual([...inOrder].sort());

  const first = await startBench({ storage });
  for (const path of [...paths, 'x/1/cc/1', 'other/1']) await first.db.doc(path).set({ n: 1 });
  expect(await names(first.db, 'c')).toEqual(['c/1', 'c/2', 'x/1/c/1', 'x/1/y/2/c/3']);
  await Promise.all([
    first.db.doc(deleted).delete(),
    first.db.doc('c/2').update({ n: 2 }),
    ...late.map((path) => first.db.doc(path).set({ n: 1 })),
  ]);
  expect(await names(first.db, 'c')).toEqual(inOrder);
  await first.stop();

  const again = await startBench({ storage });
  expect(await names(again.db, 'c')).toEqual(inOrder);
  expect(await names(again.db, 'cc')).toEqual(['x/1/cc/1']);
  await again.db.doc('c/1').delete();
  expect(await names(again.db, 'c')).toEqual(inOrder.slice(1));
  await again.stop();

  // With other indexes all entries are rebuilt.
  const declared = { indexes: [{ collectionGroup: 'c', fields: [{ fieldPath: 'n', order: 'ASCENDING' }] }] };
  const rebuilt = await startBench({ storage, indexesFile: indexesFile(declared) });
  expect(await names(rebuilt.db, 'c')).toEqual(inOrder.slice(1));
  expect(await names(rebuilt.db, 'other')).toEqual(['other/1']);
  await rebuilt.stop();
});

test('an invalid declaration is an error at start', async () => {
  const fields = [{ fieldPath: 'a' }];
  const file = indexesFile({ indexes: [{ collectionGroup: 'c', fields }] });
  await expect(startFirestoreServer({ storage: { kind: 'memory' }, indexesFile: file })).rejects.toThrow(
    /index 0 on c/,
  );
});

test('a TTL policy deletes expired documents, and nothing else', async () => {
  let now = 1_000_000;
  const file = indexesFile({
    fieldOverrides: [{ collectionGroup: 'keys', fieldPath: 'expiresAt', ttl: true }],
  });
  const bench = await startBench({ indexesFile: file, clock: () => now, expiryIntervalMs: 5 });
  const { db } = bench;
  const at = (ms: number) => Timestamp.fromMillis(ms);
  await db.doc('keys/soon').set({ expiresAt: at(now + 1_000) });
  await db.doc('keys/later').set({ expiresAt: at(now + 60_000) });
  await db.doc('keys/never').set({ expiresAt: 'no time' });
  await db.doc('a/b/keys/nested').set({ expiresAt: at(now + 1_000) });
  await db.doc('other/soon').set({ expiresAt: at(now + 1_000) });
  now += 2_000;
  await until(
    async () => !(await db.doc('keys/soon').get()).exists && !(await db.doc('a/b/keys/nested').get()).exists,
  );
  const left = await db.getAll(db.doc('keys/later'), db.doc('keys/never'), db.doc('other/soon'));
  expect(left.map((d) => d.exists)).toEqual([true, true, true]);
  expect(bench.server.meter.snapshot().byCall.TTL?.deletes).toBe(2);
  await bench.stop();
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('It did not happen within two minutes.');
  }
}
