import { describe, expect, test } from '@jest/globals';
import { setRawBench } from './support/raw-bench.ts';
import {
  commit,
  compare,
  database,
  doc,
  nested,
  one,
  query,
  set,
  text,
  transform,
  vector,
} from './support/requests.ts';

const OK = 0;
const INVALID_ARGUMENT = 3;
const INTERNAL = 13;
const MIB = 1_048_576;

const bench = setRawBench();

/** Requests that no client library builds, and the expected error. */
const refused: [string, string, object, RegExp][] = [
  ['a write that does nothing', 'Commit', commit({}), /^empty write operation/],
  ['a write to nothing', 'Commit', commit({ update: {} }), /Invalid resource name/],
  ['a second name of a numbered document', 'Commit', commit(set('h/__id07__')), /reserved/],
  ['minus zero as a number of a document', 'Commit', commit(set('h/__id-0__')), /reserved/],
  [
    'a document of another database',
    'Commit',
    { ...commit(set('h/a')), database: 'projects/x/databases/y' },
    /not in the database/,
  ],
  ['a transform of a reserved field', 'Commit', commit(transform('__name__')), /reserved/],
  ['a transform inside a reserved field', 'Commit', commit(transform('a.__b__')), /reserved/],
  ['a transform deeper than 20 levels', 'Commit', commit(transform(nested(21))), /deeper than 20/],
  ['a transform hundreds of levels deep', 'Commit', commit(transform(nested(700))), /deeper than 20/],
  ['a transform thousands of levels deep', 'Commit', commit(transform(nested(5_000))), /longer than 1500/],
  [
    'an element 21 levels deep',
    'Commit',
    commit(transform(nested(20), { appendMissingElements: { values: [one] } })),
    /deeper than 20/,
  ],
  [
    'an increment by nothing',
    'Commit',
    commit(transform('a', { increment: {} })),
    /firestore.v1.Value with type unset/,
  ],
  [
    'a mask on a reserved field',
    'Commit',
    commit({ ...set('h/a'), updateMask: { fieldPaths: ['__x__'] } }),
    /reserved/,
  ],
  [
    'a reference to no document',
    'Commit',
    commit(set('h/a', { r: { referenceValue: 'h/b' } })),
    /Invalid resource name/,
  ],
  [
    'a reference to a collection',
    'Commit',
    commit(set('h/a', { r: { referenceValue: doc('h') } })),
    /lacks the document id/,
  ],
  [
    'a reference to another database',
    'Commit',
    commit(set('h/a', { r: { referenceValue: 'projects/other/databases/(default)/documents/h/b' } })),
    /not in the database/,
  ],
  [
    'an element that refers to another database',
    'Commit',
    commit(
      transform('l', {
        appendMissingElements: {
          values: [{ referenceValue: 'projects/other/databases/(default)/documents/h/b' }],
        },
      }),
    ),
    /not in the database/,
  ],
  [
    'a vector of texts',
    'Commit',
    commit(set('h/a', vector([text('x')]))),
    /only contain values of type 'double'/,
  ],
  [
    'a vector of integers',
    'Commit',
    commit(set('h/a', vector([one]))),
    /only contain values of type 'double'/,
  ],
  ['a vector with NaN', 'Commit', commit(set('h/a', vector([{ doubleValue: Number.NaN }]))), /NaN/],
  ['a vector of nothing', 'Commit', commit(set('h/a', vector([]))), /zero length/],
  [
    'a vector of 2,049 dimensions',
    'Commit',
    commit(set('h/a', vector(Array(2_049).fill({ doubleValue: 1 })))),
    /at most 2048 dimensions/,
  ],
  [
    'a vector in an array',
    'Commit',
    commit(set('h/a', { a: { arrayValue: { values: [vector([{ doubleValue: 1 }]).v] } } })),
    /^Cannot convert a vector value in an array value/,
  ],
  [
    'transforms of a field and of one within it',
    'Commit',
    commit({
      ...set('h/t', {}),
      updateTransforms: [
        { fieldPath: 'a.b.c', increment: one },
        { fieldPath: 'd', increment: one },
        { fieldPath: 'a', setToServerValue: 1 },
      ],
    }),
    /Cannot transform property a and its nested property/,
  ],
  [
    'a collection group below a document by a field',
    'RunQuery',
    {
      ...query({ from: [{ collectionId: 'h', allDescendants: true }], where: compare('a', 'EQUAL', one) }),
      parent: doc('h/a'),
    },
    /only allowed at the root parent/,
  ],
  [
    'a delete with a mask',
    'Commit',
    commit({ delete: doc('h/a'), updateMask: { fieldPaths: ['a'] } }),
    /a delete must not specify a document mask/,
  ],
  [
    'a transform of nothing',
    'Commit',
    commit({ transform: { document: doc('h/t') } }),
    /list of FieldTransform must not be empty/,
  ],
  [
    'a document that has its name already',
    'CreateDocument',
    { parent: query({}).parent, collectionId: 'h', document: { name: doc('h/a') } },
    /must not have a name/,
  ],
  ['a rollback of no transaction', 'Rollback', { database }, /needs the id/],
  [
    'a rollback of what never was one',
    'Rollback',
    { database, transaction: Buffer.alloc(8) },
    /Invalid transaction/,
  ],
  ['an update of no document', 'UpdateDocument', {}, /Invalid resource name/],
  [
    'a comparison with nothing',
    'RunQuery',
    query({ where: { fieldFilter: { field: { fieldPath: 'a' }, op: 5 } } }),
    /firestore.v1.Value with type unset/,
  ],
  ...['x', `${database}/documents/c`, `${database}/documents/c//d`, doc('c/__x__')].map(
    (referenceValue): [string, string, object, RegExp] => [
      `a comparison with the reference ${referenceValue}`,
      'RunQuery',
      query({ where: compare('a', 'EQUAL', { arrayValue: { values: [{ referenceValue }] } }) }),
      /name|segment|reserved/i,
    ],
  ),
  ['a negative limit', 'RunQuery', query({ limit: { value: -1 } }), /limit is negative/],
  ['a negative offset', 'RunQuery', query({ offset: -1 }), /offset is negative/],
  [
    'an order in no known direction',
    'RunQuery',
    query({ orderBy: [{ field: { fieldPath: 'a' }, direction: 9 }] }),
    /Unknown direction 9/,
  ],
  [
    'a mask on the name',
    'Commit',
    commit({ ...set('h/a'), updateMask: { fieldPaths: ['__name__'] } }),
    /reserved/,
  ],
  [
    'a name to be equal beside another field to be unequal',
    'RunQuery',
    query({
      where: {
        compositeFilter: {
          op: 'AND',
          filters: [
            { fieldFilter: { field: { fieldPath: 'a' }, op: 'NOT_EQUAL', value: one } },
            {
              fieldFilter: {
                field: { fieldPath: '__name__' },
                op: 'EQUAL',
                value: { referenceValue: doc('h/a') },
              },
            },
          ],
        },
      },
    }),
    /Equality on key is not allowed/,
  ],
  [
    'an order by name before the one that an inequality implies',
    'RunQuery',
    query({ orderBy: [{ field: { fieldPath: '__name__' } }], where: compare('a', 'GREATER_THAN', one) }),
    /order by clause cannot contain more fields after the key/,
  ],
  [
    'a name to be unequal to a collection',
    'RunQuery',
    query({ where: compare('__name__', 'NOT_EQUAL', { referenceValue: doc('h') }) }),
    /lacks the document id/,
  ],
  [
    'a cursor with a value for an implied order',
    'RunQuery',
    query({
      orderBy: [{ field: { fieldPath: 'a' } }],
      startAt: { values: [one, { referenceValue: doc('h/a') }] },
    }),
    /Cursor has too many values/,
  ],
  [
    'null for a list',
    'RunQuery',
    query({ where: compare('a', 'IN', { nullValue: 0 }) }),
    /requires an ArrayValue/,
  ],
  [
    'no alternative',
    'RunQuery',
    query({ where: { compositeFilter: { op: 'OR' } } }),
    /at least one sub-filter/,
  ],
  [
    'a filter on every collection',
    'RunQuery',
    query({ from: [], where: compare('a', 'EQUAL', one) }),
    /^kind is required for/,
  ],
  [
    'an order of every collection',
    'RunQuery',
    query({ from: [{ allDescendants: true }], orderBy: [{ field: { fieldPath: 'a' } }] }),
    /^kind is required for/,
  ],
  [
    'a sum of names',
    'RunAggregationQuery',
    {
      parent: query({}).parent,
      structuredAggregationQuery: {
        ...query({}),
        aggregations: [{ sum: { field: { fieldPath: '__name__' } } }],
      },
    },
    /not supported for the property/,
  ],
  [
    'an order beyond the name',
    'RunQuery',
    query({ orderBy: ['__name__', 'a'].map((fieldPath) => ({ field: { fieldPath } })) }),
    /more fields after the key/,
  ],
];

describe('the server refuses', () => {
  test.each(refused)('%s', async (_, method, request, reason) => {
    const { code, details } = await bench.raw.call(method, request);
    expect(details).toMatch(reason);
    expect(code).toBe(INVALID_ARGUMENT);
  });

  test.each([
    ['documents', 'Commit', (i: number) => set(`h/big${i}`, { t: text('x'.repeat(MIB - 200)) }), 11],
    [
      'documents, each on its own',
      'BatchWrite',
      (i: number) => set(`h/big${i}`, { t: text('x'.repeat(MIB - 200)) }),
      11,
    ],
    ['names', 'Commit', (i: number) => ({ delete: doc(`h/${'x'.repeat(1_400)}${i}`) }), 7_500],
  ])('more than 10 MiB of %s', async (_, method, write, count) => {
    const { code, details } = await bench.raw.call(
      method,
      commit(...Array.from({ length: count }, (_, i) => write(i))),
    );
    expect(details).toMatch(/payload size exceeds the limit: 10485760/);
    expect(code).toBe(INVALID_ARGUMENT);
    expect((await bench.db.doc('h/big0').get()).exists).toBe(false);
  });

  test('text that is not UTF-8', async () => {
    const bytes = bench.raw.encode('Commit', commit(set('h/utf', { t: text('QQ') })));
    bytes.fill(0xff, bytes.indexOf('QQ'), bytes.indexOf('QQ') + 2);
    expect(await bench.raw.send('Commit', bytes)).toMatchObject({
      code: INVALID_ARGUMENT,
      details: expect.stringContaining('UTF-8'),
    });
  });

  test('endlessly nested filters, and continues', async () => {
    let filter = bench.raw.encode(
      'RunQuery',
      query({ where: { unaryFilter: { op: 3, field: { fieldPath: 'a' } } } }),
    );
    filter = filter.subarray(filter.lastIndexOf(Buffer.from([0x1a])) + 2);
    for (let i = 0; i < 4_000; i++) filter = field(1, Buffer.concat([Buffer.from([8, 1]), field(2, filter)]));
    const from = Buffer.from([18, 3, 18, 1, 104]);
    const request = [
      field(1, Buffer.from(`${database}/documents`)),
      field(2, Buffer.concat([from, field(3, filter)])),
    ];
    expect([INVALID_ARGUMENT, INTERNAL]).toContain(
      (await bench.raw.send('RunQuery', Buffer.concat(request))).code,
    );
    expect((await bench.raw.call('RunQuery', query({}))).code).toBe(OK);
  });
});

/** A length-delimited protobuf field. */
function field(number: number, content: Buffer): Buffer {
  const head = [number * 8 + 2];
  let length = content.length;
  for (; length >= 128; length = Math.floor(length / 128)) head.push((length % 128) + 128);
  return Buffer.concat([Buffer.from([...head, length]), content]);
}

describe('the server takes', () => {
  test('an empty commit, and one of 501 writes', async () => {
    expect((await bench.raw.call('Commit', commit())).code).toBe(OK);
    const many = await bench.raw.call(
      'Commit',
      commit(...Array.from({ length: 501 }, (_, i) => set(`many/d${i}`))),
    );
    expect(many.code).toBe(OK);
    expect(many.messages[0]?.writeResults).toHaveLength(501);
  });

  test('a duplicate read of a document, answered once; a read of its name alone, answered without fields', async () => {
    await bench.db.doc('h/twice').set({ a: 1 });
    const read = {
      database,
      documents: [doc('h/twice'), doc('h/none'), doc('h/twice')],
      mask: { fieldPaths: ['__name__'] },
    };
    const { code, messages } = await bench.raw.call('BatchGetDocuments', read);
    expect(code).toBe(OK);
    expect(messages.map((m) => m.found ?? m.missing)).toEqual([
      expect.objectContaining({ name: doc('h/twice') }),
      doc('h/none'),
    ]);
    expect(messages[0]?.found).not.toHaveProperty('fields');
  });

  test('a value with several kinds, and stores only the last', async () => {
    const bytes = bench.raw.encode('Commit', commit(set('h/two', { a: { booleanValue: true } })));
    // The field "a": its key, then a value of two bytes, which are doubled here; the lengths around them grow with it.
    const entry = Buffer.from([18, 2, 8, 1]);
    const at = bytes.indexOf(entry);
    const twice = Buffer.concat([
      bytes.subarray(0, at),
      Buffer.from([18, 4, 8, 1, 16, 7]),
      bytes.subarray(at + 4),
    ]);
    for (const length of [at - 4, ...lengthsBefore(bytes, 'h/two')])
      twice[length] = (twice[length] as number) + 2;
    expect(await bench.raw.send('Commit', twice)).toMatchObject({ code: OK });
    expect((await bench.db.doc('h/two').get()).data()).toEqual({ a: 7 });
  });
});

/** Offsets of the lengths of the write and of its document: both hold the name, whose own length they precede. */
function lengthsBefore(bytes: Buffer, path: string): number[] {
  const name = bytes.indexOf(doc(path));
  return [name - 3, name - 5];
}
