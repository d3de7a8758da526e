/**
 * Error messages are those of Google's servers, because callers show them and match on them. The texts are those of Google's emulator
 * for the same requests.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setRawBench } from './support/raw-bench.ts';
import { commit, compare, database, doc, one, query, set, text, transform } from './support/requests.ts';

const INVALID_ARGUMENT = 3;
const bench = setRawBench();

const order = (fieldPath: string, direction = 1) => ({ field: { fieldPath }, direction });
const list = (...values: object[]) => ({ arrayValue: { values } });
const point = (latitude: number, longitude = 0) =>
  set('h/a', { g: { geoPointValue: { latitude, longitude } } });
const time = (seconds: number, nanos = 0) => set('h/a', { t: { timestampValue: { seconds, nanos } } });
const aggregate = (structuredQuery: object, ...aggregations: object[]) => ({
  parent: `${database}/documents`,
  structuredAggregationQuery: {
    structuredQuery: { from: [{ collectionId: 'h' }], ...structuredQuery },
    aggregations,
  },
});
const sum = (fieldPath: string) => ({ alias: 's', sum: { field: { fieldPath } } });
const PATH_RULE =
  'Unquoted property paths must match regex ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)';

test.each<[string, object, string]>([
  ['Commit', commit(set('h/a', { a: {} })), 'Cannot convert firestore.v1.Value with type unset.'],
  ['Commit', commit(set('h/a', { a: list(list(one)) })), 'Cannot convert an array value in an array value.'],
  ['Commit', commit(point(91)), "Geo point latitude '91.0' outside permitted range -90.0 to 90.0."],
  ['Commit', commit(point(Number.NaN)), "Geo point latitude 'NaN' outside permitted range -90.0 to 90.0."],
  [
    'Commit',
    commit(point(0, -180.5)),
    "Geo point longitude '-180.5' outside permitted range -180.0 to 180.0.",
  ],
  ['Commit', commit(time(253_402_300_800)), 'Timestamp seconds exceeds limit for field.'],
  ['Commit', commit(time(1, -1)), 'Timestamp nanos exceeds limit for field.'],
  ['Commit', commit(transform('a', { increment: text('x') })), 'Input must be int64 or double.'],
  [
    'Commit',
    commit(transform('a', { setToServerValue: 0 })),
    'ServerValue type must be specified for set_to_server_value transformation.',
  ],
  [
    'Commit',
    commit(transform('a', { increment: undefined })),
    'Operation type must be specified for field transformation.',
  ],
  ['Commit', commit(transform('a..b')), `Invalid property path "a..b". ${PATH_RULE}`],
  ['Commit', commit(transform('`a')), `Invalid property path "\`a". ${PATH_RULE}`],
  ['Commit', commit(transform('1a')), `Invalid property path "1a". ${PATH_RULE}`],
  ['Commit', commit(transform('')), 'Invalid empty property path string.'],
  [
    'Commit',
    commit({ delete: doc('h/a'), updateTransforms: [{ fieldPath: 'a', increment: one }] }),
    'a delete must not specify a update transform.',
  ],
  ['Commit', commit({ verify: doc('h/a') }), 'a verify must contain a precondition'],
  [
    'Commit',
    commit({ delete: doc('h/a'), currentDocument: { updateTime: { seconds: 1, nanos: 1 } } }),
    'timestamp cannot have more than microseconds precision',
  ],
  [
    'BatchWrite',
    commit(set('h/a'), set('h/a')),
    'the same document cannot be written more than once in a single request',
  ],
  [
    'RunQuery',
    query({ orderBy: [order('a'), order('a', 2)] }),
    'order by clause cannot contain duplicate fields a',
  ],
  [
    'RunQuery',
    query({ orderBy: [order('__name__'), order('__name__', 2)] }),
    'order by clause cannot contain more fields after the key',
  ],
  [
    'RunQuery',
    query({ orderBy: [order('__name__')], startAt: { values: [one] } }),
    'Cursor __key__ value is not a document reference.',
  ],
  ['RunQuery', query({ where: compare('__name__', 'EQUAL', one) }), '__key__ filter value must be a Key'],
  [
    'RunQuery',
    query({ from: [{ collectionId: 'a' }, { collectionId: 'b' }] }),
    'StructuredQuery.from cannot have more than one collection selector.',
  ],
  [
    'RunQuery',
    query({ from: [{ allDescendants: true }], where: compare('a', 'EQUAL', one) }),
    'kind is required for filter: a',
  ],
  [
    'RunQuery',
    query({ from: [{ allDescendants: true }], orderBy: [order('a')] }),
    'kind is required for all orders except __key__ ascending',
  ],
  ['RunQuery', { parent: `${database}/documents` }, 'only structured queries are supported'],
  ['RunQuery', query({ where: compare('a', 'IN', list()) }), "'IN' requires an non-empty ArrayValue."],
  ['RunQuery', query({ where: compare('a', 'NOT_IN', one) }), "'NOT_IN' requires an ArrayValue."],
  [
    'RunQuery',
    query({ where: compare('a', 'ARRAY_CONTAINS_ANY', list(...Array.from({ length: 31 }, () => one))) }),
    "'ARRAY_CONTAINS_ANY' supports up to 30 comparison values.",
  ],
  [
    'RunQuery',
    query({ where: compare('a', 'EQUAL', text('x'.repeat(1500))) }),
    'value for a is too large to be used in a query',
  ],
  ['RunQuery', query({ where: {} }), 'Unknown Filter type.'],
  [
    'RunQuery',
    query({
      where: {
        compositeFilter: {
          op: 'AND',
          filters: [
            compare('__name__', 'EQUAL', { referenceValue: doc('h/a') }),
            compare('a', 'EQUAL', one),
            compare('a', 'GREATER_THAN', one),
          ],
        },
      },
    }),
    'Equality on key is not allowed if there are other inequality fields and key does not appear in inequalities.',
  ],
  [
    'RunQuery',
    query({ where: compare('m.__x__', 'EQUAL', one) }),
    'Invalid reserved name in field path __x__',
  ],
  ['RunQuery', query({ orderBy: [order('__x__')] }), 'Invalid reserved name in field path __x__'],
  ['GetDocument', { name: doc('h/a'), mask: { fieldPaths: ['a.__name__'] } }, 'the name __key__ is reserved'],
  [
    'Commit',
    commit({ delete: doc('h/a') }, { ...set('h/a'), currentDocument: { updateTime: { seconds: 5 } } }),
    'Cannot delete then update an entity in the same request.',
  ],
  [
    'RunQuery',
    query({
      where: {
        compositeFilter: {
          op: 'AND',
          filters: [
            compare('a', 'NOT_EQUAL', { nullValue: 0 }),
            { unaryFilter: { op: 'IS_NOT_NAN', field: { fieldPath: 'b' } } },
          ],
        },
      },
    }),
    "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query.",
  ],
  [
    'RunAggregationQuery',
    { parent: `${database}/documents` },
    'Only structured aggregation queries are supported.',
  ],
  ['RunAggregationQuery', aggregate({}, { alias: 'a' }), 'Operator field in Aggregation is not set.'],
  [
    'RunAggregationQuery',
    aggregate({}, { alias: 'a', count: {} }, { alias: 'a', count: {} }),
    'Aggregation aliases contain duplicate alias: a.',
  ],
  [
    'RunAggregationQuery',
    aggregate({ select: { fields: [] } }, sum('a')),
    'Cannot apply property masks when aggregation fields are present.',
  ],
  [
    'RunAggregationQuery',
    aggregate({ orderBy: [order('__name__')] }, sum('a')),
    'This query requires an index that has fields [a] after __name__ and Firestore does not currently support such an index. Please try the query again with additional ordering on those fields.',
  ],
  [
    'ListDocuments',
    { parent: `${database}/documents`, collectionId: 'h', orderBy: 'a b' },
    'Invalid order by clause "a b".',
  ],
  [
    'ListDocuments',
    { parent: `${database}/documents`, collectionId: 'h', orderBy: 'a', showMissing: true },
    'cannot specify an order when show_missing is true',
  ],
  [
    'ListDocuments',
    { parent: `${database}/documents`, showMissing: true },
    'collection id must be set when show_missing is true',
  ],
  [
    'ListDocuments',
    { parent: `${database}/documents`, collectionId: 'h', pageToken: 'x' },
    'invalid page token',
  ],
  [
    'ListDocuments',
    { parent: `${database}/documents`, orderBy: 'a' },
    'kind is required for all orders except __key__ ascending',
  ],
  [
    'ListCollectionIds',
    { parent: `${database}/documents/` },
    `Document parent name "${database}/documents/" is invalid: Omit trailing "/".`,
  ],
  [
    'CreateDocument',
    { parent: `${database}/documents`, collectionId: 'h', documentId: 'a/b/c', document: {} },
    'Resource id "a/b/c" is invalid because it contains "/".',
  ],
  [
    'BeginTransaction',
    { database, options: { readWrite: { retryTransaction: Buffer.from('abc') } } },
    'Invalid transaction.',
  ],
  [
    'GetDocument',
    { name: doc('h/a'), readTime: { seconds: -1 } },
    'Only timestamps past epoch are supported.',
  ],
  ['RunQuery', { ...query({}), readTime: {} }, 'Only timestamps past epoch are supported.'],
  [
    'ListCollectionIds',
    { parent: `${database}/documents`, pageSize: -1 },
    'page_size must be greater than or equal to zero.',
  ],
  [
    'BatchGetDocuments',
    { database, documents: [doc('h/a')], readTime: { seconds: 4e9 } },
    "The requested 'read_time' cannot be in the future.",
  ],
])('%s %# is refused with the message of Google', async (method, request, details) => {
  expect(await bench.raw.call(method, request)).toMatchObject({ code: INVALID_ARGUMENT, details });
});

test('an error about the version has both versions; that of a missing document is 0', async () => {
  await bench.raw.call('Commit', commit(set('h/versioned')));
  const at = (path: string) =>
    bench.raw.call('Commit', commit({ ...set(path), currentDocument: { updateTime: { seconds: 5 } } }));
  const words = (stored: string) =>
    new RegExp(`^the stored version \\(${stored}\\) does not match the required base version \\(5000000\\)$`);
  expect(await at('h/versioned')).toMatchObject({
    code: 9,
    details: expect.stringMatching(words('\\d{16}')),
  });
  expect(await at('h/none')).toMatchObject({ code: 9, details: expect.stringMatching(words('0')) });
});

test('a required update time outside the years of a timestamp is an invalid argument', async () => {
  const currentDocument = { updateTime: { seconds: -1e12 } };
  expect(await bench.raw.call('Commit', commit({ ...set('h/a'), currentDocument }))).toMatchObject({
    code: INVALID_ARGUMENT,
  });
});

test.each(['PESSIMISTIC', 'OPTIMISTIC'])(
  'a %s transaction that is aborted gets the message about contention',
  async (concurrencyMode) => {
    const begin = async () => {
      const { messages } = await bench.raw.call('BeginTransaction', {
        database,
        options: { readWrite: { concurrencyMode } },
      });
      const transaction = messages[0]?.transaction;
      await bench.raw.call('BatchGetDocuments', { database, documents: [doc('h/contended')], transaction });
      return { ...commit(set('h/contended', { a: text(concurrencyMode) })), transaction };
    };
    const [older, younger] = [await begin(), await begin()];
    expect(await bench.raw.call('Commit', older)).toMatchObject({ code: 0 });
    expect(await bench.raw.call('Commit', younger)).toMatchObject({
      code: 10,
      details: expect.stringMatching(
        /^Aborted due to cross-transaction contention\. This occurs when multiple /,
      ),
    });
  },
);

describe('a random query', () => {
  /** All errors of Google's emulator for such queries. */
  const WORDS = [
    /^Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query\.$/,
    /^'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'\.$/,
    /^A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction\.$/,
    /^Equality on key is not allowed if there are other inequality fields and key does not appear in inequalities\.$/,
    /^order by clause cannot contain duplicate fields [ab]$/,
    /^order by clause cannot contain more fields after the key$/,
    /^kind is required for filter: [abt]$/,
    /^kind is required for all orders except __key__ ascending$/,
    /^collection group queries are only allowed at the root parent$/,
    /^(limit|offset) is negative$/,
    /^__key__ filter value must be a Key$/,
    /^Cursor has too many values\.$/,
    /^Cursor __key__ value is not a document reference\.$/,
  ];
  /** The only one of these errors that is FAILED_PRECONDITION. */
  const isDescendingGroup = (details: string) =>
    details ===
    "collection group queries are only allowed if they're at the root or they're an ascending primary key scan";
  const number = fc.integer({ min: 0, max: 3 }).map((n) => ({ integerValue: n }));
  const reference = { referenceValue: doc('h/a') };
  const value = (field: string) =>
    field === '__name__' ? fc.oneof({ weight: 4, arbitrary: fc.constant(reference) }, number) : number;
  const field = fc.constantFrom('a', 'b', '__name__');
  const leaf = fc.oneof(
    fc
      .tuple(field, fc.constantFrom('EQUAL', 'NOT_EQUAL', 'LESS_THAN', 'GREATER_THAN_OR_EQUAL'))
      .chain(([path, op]) => value(path).map((v) => compare(path, op, v))),
    fc
      .tuple(field, fc.constantFrom('IN', 'NOT_IN'))
      .chain(([path, op]) => value(path).map((v) => compare(path, op, list(v)))),
    number.map((v) => compare('t', 'ARRAY_CONTAINS', v)),
    number.map((v) => compare('t', 'ARRAY_CONTAINS_ANY', list(v))),
  );
  const composite = (parts: fc.Arbitrary<object>) =>
    fc
      .tuple(fc.constantFrom('AND', 'OR'), fc.array(parts, { minLength: 1, maxLength: 3 }))
      .map(([op, filters]) => ({ compositeFilter: { op, filters } }));
  const cursor = fc.record({
    values: fc.array(fc.oneof(number, fc.constant(reference)), { maxLength: 3 }),
    before: fc.boolean(),
  });
  const queries = fc.record(
    {
      from: fc.constantFrom(
        [{ collectionId: 'h' }],
        [{ collectionId: 'h', allDescendants: true }],
        [{ allDescendants: true }],
      ),
      where: fc.oneof(leaf, composite(leaf), composite(fc.oneof(leaf, composite(leaf)))),
      orderBy: fc.array(
        fc.tuple(field, fc.constantFrom(1, 2)).map(([path, direction]) => order(path, direction)),
        { maxLength: 3 },
      ),
      startAt: cursor,
      limit: fc.integer({ min: -1, max: 3 }).map((n) => ({ value: n })),
      offset: fc.integer({ min: -1, max: 3 }),
    },
    { requiredKeys: ['from'] },
  );

  test('is answered, or refused with a message of Google', async () => {
    await fc.assert(
      fc.asyncProperty(
        queries,
        fc.constantFrom(`${database}/documents`, doc('p/q')),
        async (structuredQuery, parent) => {
          const { code, details } = await bench.raw.call('RunQuery', { parent, structuredQuery });
          if (code === 0 || isDescendingGroup(details)) return;
          expect([code, details, WORDS.some((words) => words.test(details))]).toEqual([
            INVALID_ARGUMENT,
            details,
            true,
          ]);
        },
      ),
      { numRuns: 300 },
    );
  });
});
