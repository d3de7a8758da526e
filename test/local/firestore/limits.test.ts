import {
  FieldPath,
  FieldValue,
  Filter,
  type Firestore,
  type Query,
  type WhereFilterOp,
} from '@google-cloud/firestore';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Bench, startBench } from './support/client.ts';

const INVALID_ARGUMENT = 3;

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.stop());

const MIB = 1_048_576;
const deep = (levels: number): object => (levels === 0 ? {} : { m: deep(levels - 1) });

const nested = (name: string, levels: number): object =>
  levels === 0 ? {} : { [name]: nested(name, levels - 1) };
const TOO_LARGE = /value for a is too large to be used in a query/;
const query = (db: Firestore, op: WhereFilterOp, operand: unknown) =>
  db.collection('l').where('a', op, operand).get();
const filtered = (list: Query, count: number) =>
  range(count).reduce((q, i) => q.where(`f${i}`, '==', i), list);

/** Refused requests, and the message that states what to change. */
const refused: [string, RegExp, (db: Firestore) => Promise<unknown>][] = [
  [
    'a document over 1 MiB',
    /size \(1,048,\d+ bytes\).*1,048,576/,
    (db) => db.doc('l/a').set({ t: 'x'.repeat(MIB / 2), u: 'x'.repeat(MIB / 2) }),
  ],
  [
    'a text over 1 MiB less 89 bytes',
    /longer than 1048487 bytes/,
    (db) => db.doc('l/a').set({ t: 'é'.repeat((MIB - 88) / 2) }),
  ],
  [
    'bytes over 1 MiB less 89, in a list of a transform too',
    /longer than 1048487 bytes/,
    (db) => db.doc('l/a').set({ l: FieldValue.arrayUnion(Buffer.alloc(MIB - 88)) }),
  ],
  [
    'many small numbers over 1 MiB',
    /exceeds the maximum/,
    (db) => db.doc('l/a').set({ n: Array(131_073).fill(1) }),
  ],
  [
    'a commit over 10 MiB',
    /payload size exceeds/,
    (db) => {
      const batch = db.batch();
      for (let i = 0; i < 11; i++) batch.set(db.doc(`l/big${i}`), { t: 'x'.repeat(MIB - 1_000) });
      return batch.commit();
    },
  ],
  ['maps deeper than 20', /deeper than 20/, (db) => db.doc('l/a').set(deep(21))],
  ['a reserved field name', /reserved/, (db) => db.doc('l/a').set({ __x__: 1 })],
  ['a reserved document id', /reserved/, (db) => db.doc('l/__x__').set({})],
  ['a reserved collection id', /reserved/, (db) => db.doc('__x__/a').set({})],
  ['a document id over 1,500 bytes', /1500 bytes/, (db) => db.doc(`l/${'é'.repeat(751)}`).set({})],
  ['a field name over 1,500 bytes', /1500 bytes/, (db) => db.doc('l/a').set({ ['k'.repeat(1_501)]: 1 })],
  ...Object.entries<(name: string) => object>({
    'a map': (name) => ({ ['k'.repeat(700)]: { [name]: 1 } }),
    'a map in a list': (name) => ({ ['k'.repeat(700)]: [{ [name]: 1 }] }),
    'maps of short names': (name) => ({ m: { ['k'.repeat(698)]: { [name]: 1 } } }),
  }).map(([where, data]): (typeof refused)[number] => [
    `a field path over 1,500 bytes in ${where}`,
    /path of field "lll.*1500 bytes/,
    (db) => db.doc('l/a').set(data('l'.repeat(800))),
  ]),
  [
    'a field path over 1,500 bytes of names that are each short',
    /path of field "lll.*1500 bytes/,
    (db) => db.doc('l/a').set(nested('l'.repeat(75), 20)),
  ],
  [
    'a field path over 1,500 bytes in a mask',
    /path of field/,
    (db) => db.doc('l/a').update(new FieldPath('k'.repeat(700), 'l'.repeat(800)), FieldValue.delete()),
  ],
  [
    'more than 500 transforms of a document',
    /500 transforms/,
    (db) =>
      db
        .doc('l/a')
        .set(Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`k${i}`, FieldValue.increment(1)]))),
  ],
  [
    'more than 500 transforms of a document by several writes of a commit',
    /500 transforms/,
    (db) => {
      const transforms = (n: number) =>
        Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, FieldValue.increment(1)]));
      return db.batch().set(db.doc('l/a'), transforms(300)).update(db.doc('l/a'), transforms(201)).commit();
    },
  ],
  [
    'more than 40,000 index entries',
    /too many index entries/,
    (db) => db.doc('l/a').set({ list: Array.from({ length: 40_001 }, (_, i) => i) }),
  ],
  [
    'more than 40,000 index entries, two for each field',
    /too many index entries: 40003/,
    (db) => db.doc('l/a').set(Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`f${i}`, i]))),
  ],
  [
    'more than 30 disjunctions',
    /32 disjunctions/,
    (db) => db.collection('l').where('a', 'in', range(8)).where('b', 'in', range(4)).get(),
  ],
  [
    'more than 10 not-in values',
    /up to 10/,
    (db) => db.collection('l').where('a', 'not-in', range(11)).get(),
  ],
  [
    'not-in together with in',
    /'NOT_IN' cannot be used in the same query/,
    (db) =>
      db
        .collection('l')
        .where(Filter.or(Filter.where('a', 'not-in', [1]), Filter.where('b', 'in', [1, 2])))
        .get(),
  ],
  [
    'more than 100 filters and orders',
    /99 filters, 2 orders and 0 parents/,
    (db) => filtered(db.collection('l'), 99).orderBy('x').orderBy('y').get(),
  ],
  [
    'more than 100 filters, of which a list has three',
    /101 filters/,
    (db) => filtered(db.collection('l'), 98).where('x', 'in', range(3)).get(),
  ],
  [
    'more than 100 filters and a parent',
    /100 filters, 0 orders and 1 parents/,
    (db) => filtered(db.collection('l/a/l'), 100).get(),
  ],
  ['a text over 1,500 bytes to compare with', TOO_LARGE, (db) => query(db, '==', 'x'.repeat(1_500))],
  ['a text over 1,500 bytes in a list', TOO_LARGE, (db) => query(db, 'in', ['a', 'é'.repeat(750)])],
  [
    'a text over 1,500 bytes to be contained',
    TOO_LARGE,
    (db) => query(db, 'array-contains', 'x'.repeat(1_500)),
  ],
  ['numbers over 1,500 bytes', TOO_LARGE, (db) => query(db, '!=', range(188))],
  ['a map over 1,500 bytes', TOO_LARGE, (db) => query(db, '<', { a: 'x'.repeat(1_498) })],
  [
    'two array memberships',
    /A maximum of 1 'ARRAY_CONTAINS'/,
    (db) => db.collection('l').where('a', 'array-contains', 1).where('b', 'array-contains', 1).get(),
  ],
];

test.each(refused)('%s is refused with a message that helps', async (_what, message, attempt) => {
  await expect(attempt(bench.db)).rejects.toMatchObject({
    code: INVALID_ARGUMENT,
    message: expect.stringMatching(message),
  });
});

const accepted: [string, (db: Firestore) => Promise<unknown>][] = [
  ['a document just under 1 MiB', (db) => db.doc('l/b').set({ t: 'x'.repeat(MIB - 89) })],
  ['maps 20 deep', (db) => db.doc('l/deep').set(deep(20))],
  ['numeric ids', (db) => db.doc('l/__id7__').set({})],
  ['a document id of 1,500 bytes', (db) => db.doc(`l/${'é'.repeat(750)}`).set({})],
  [
    'a field path of 1,500 bytes',
    (db) => db.doc('l/path').set({ ['k'.repeat(700)]: [{ ['l'.repeat(799)]: 1 }] }),
  ],
  ['100 filters and orders', (db) => filtered(db.collection('l'), 98).orderBy('x').orderBy('y').get()],
  ['99 filters and a parent', (db) => filtered(db.collection('l/a/l'), 99).get()],
  ['a text of 1,499 bytes to compare with', (db) => query(db, '==', 'x'.repeat(1_499))],
  ['a map of 1,500 bytes to compare with', (db) => query(db, '==', { a: 'x'.repeat(1_497) })],
  ['a cursor over 1,500 bytes', (db) => db.collection('l').orderBy('a').startAt('x'.repeat(2_000)).get()],
  ['30 disjunctions', (db) => db.collection('l').where('a', 'in', range(30)).get()],
  [
    'more than 500 writes',
    async (db) => {
      const batch = db.batch();
      for (let i = 0; i < 600; i++) batch.set(db.doc(`many/d${i}`), { i });
      await batch.commit();
    },
  ],
];

test.each(accepted)('%s is accepted', async (_what, attempt) => {
  await attempt(bench.db);
});

test('numeric ids sort before all others, by number', async () => {
  const { db } = bench;
  for (const id of ['a', '__id10__', '__id9__', '0']) await db.doc(`ids/${id}`).set({});
  const found = await db.collection('ids').orderBy(FieldPath.documentId()).get();
  expect(found.docs.map((d) => d.id)).toEqual(['__id9__', '__id10__', '0', 'a']);
});

function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
