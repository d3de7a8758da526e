/** Queries that the protocol allows but no official client sends get the same answers as in production. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setRawBench } from '../support/raw-bench.ts';
import { commit, compare, doc, one, query, set } from '../support/requests.ts';

const bench = setRawBench();
const FAILED_PRECONDITION = 9;
const nothing = { nullValue: 0 };
const notANumber = { doubleValue: Number.NaN };

beforeAll(async () => {
  const fields = { a: nothing, b: notANumber, c: { integerValue: 5 } };
  const writes = Object.entries(fields).map(([id, x]) => set(`h/${id}`, { x, n: one }));
  await bench.raw.call('Commit', commit(...writes, set('i/z', {}), set('h/a/below/y', {})));
});

const and = (...filters: object[]) => ({ compositeFilter: { op: 'AND', filters } });
const or = (...filters: object[]) => ({ compositeFilter: { op: 'OR', filters } });

async function ids(structuredQuery: object): Promise<string[]> {
  const { code, details, messages } = await bench.raw.call('RunQuery', query(structuredQuery));
  expect({ code, details }).toEqual({ code: 0, details: 'OK' });
  const documents = messages.flatMap(({ document }) => (document ? [document as { name: string }] : []));
  return documents.map(({ name }) => name.split('/documents/')[1] as string);
}

test.each<[string, object, string[]]>([
  ['equals null', compare('x', 'EQUAL', nothing), []],
  ['does not equal null', compare('x', 'NOT_EQUAL', nothing), []],
  ['is at most null', compare('x', 'LESS_THAN_OR_EQUAL', nothing), []],
  ['is at least null', compare('x', 'GREATER_THAN_OR_EQUAL', nothing), []],
  [
    'equals null or 5',
    or(compare('x', 'EQUAL', nothing), compare('x', 'EQUAL', { integerValue: 5 })),
    ['h/c'],
  ],
  ['equals NaN', compare('x', 'EQUAL', notANumber), []],
  ['does not equal NaN', compare('x', 'NOT_EQUAL', notANumber), ['h/b', 'h/c']],
  ...['LESS_THAN', 'LESS_THAN_OR_EQUAL', 'GREATER_THAN', 'GREATER_THAN_OR_EQUAL'].flatMap(
    (op): [string, object, string[]][] => [
      [`is ${op} NaN`, compare('x', op, notANumber), []],
      [
        `has n or another field that is ${op} NaN`,
        or(compare('n', 'EQUAL', one), compare('other', op, notANumber)),
        ['h/a', 'h/b', 'h/c'],
      ],
    ],
  ),
])('a comparison with a value: what %s', async (_what, where, found) => {
  expect(await ids({ where })).toEqual(found);
});

test.each<[string, object, string[]]>([
  ['no conditions', and(), ['h/a', 'h/b', 'h/c']],
  ['no conditions and one', and(and(), compare('x', 'EQUAL', { integerValue: 5 })), ['h/c']],
  ['no conditions or one', or(and(), compare('x', 'EQUAL', { integerValue: 5 })), ['h/a', 'h/b', 'h/c']],
])('%s hold for every document that the rest allows', async (_what, where, found) => {
  expect(await ids({ where })).toEqual(found);
});

test('without a collection the direct children of the parent are found, ordered by name', async () => {
  expect(await ids({ from: [] })).toEqual(['h/a', 'h/b', 'h/c', 'i/z']);
  expect(await ids({ from: [{}], limit: { value: 2 } })).toEqual(['h/a', 'h/b']);
  expect(await ids({ from: [{ allDescendants: true }] })).toEqual([
    'h/a',
    'h/a/below/y',
    'h/b',
    'h/c',
    'i/z',
  ]);
});

test('a collection group below a document is found by name', async () => {
  const below = async (structuredQuery: object, parent: string) => {
    const from = [{ collectionId: 'g', allDescendants: true }];
    const request = { parent: doc(parent), structuredQuery: { from, ...structuredQuery } };
    const { code, messages } = await bench.raw.call('RunQuery', request);
    return code === 0
      ? messages.flatMap(({ document }) => (document ? [(document as { name: string }).name] : []))
      : code;
  };
  const paths = ['g/1', 'p/a/g/1', 'p/a/g/2', 'p/a/q/x/g/3', 'p/b/g/4', 'p/a1/g/5'];
  await bench.raw.call('Commit', commit(...paths.map((path) => set(path))));
  const names = (op: string, path: string) => compare('__name__', op, { referenceValue: doc(path) });
  const orderBy = (direction: number) => [{ field: { fieldPath: '__name__' }, direction }];
  expect(await below({}, 'p/a')).toEqual(paths.slice(1, 4).map(doc));
  expect(await below({ where: names('GREATER_THAN', 'p/a/g/1') }, 'p/a')).toEqual(paths.slice(2, 4).map(doc));
  expect(await below({ where: names('EQUAL', 'p/b/g/4') }, 'p/a')).toEqual([]);
  expect(await below({ orderBy: orderBy(1), limit: { value: 1 } }, 'p/a')).toEqual([doc('p/a/g/1')]);
  expect(await below({ orderBy: orderBy(2) }, 'p/a')).toBe(FAILED_PRECONDITION);
});

test('a cursor without values is before or after all documents', async () => {
  const orderBy = [{ field: { fieldPath: 'x' } }];
  expect(await ids({ orderBy, startAt: { before: true } })).toEqual(['h/a', 'h/b', 'h/c']);
  expect(await ids({ orderBy, startAt: { before: false } })).toEqual([]);
  expect(await ids({ orderBy, endAt: { before: true } })).toEqual([]);
  expect(await ids({ orderBy, endAt: { before: false } })).toEqual(['h/a', 'h/b', 'h/c']);
});

test('an empty projection returns only the name', async () => {
  const { messages } = await bench.raw.call('RunQuery', query({ select: {}, limit: { value: 1 } }));
  expect(messages.map(({ document }) => Object.keys(document as object).sort())).toEqual([
    ['createTime', 'name', 'updateTime'],
  ]);
});

describe('disjunctions', () => {
  const INVALID_ARGUMENT = 3;
  const number = fc.integer({ min: 0, max: 40 }).map((integerValue) => ({ integerValue }));
  const equal = fc
    .tuple(fc.constantFrom('a', 'b'), number)
    .map(([field, value]) => compare(field, 'EQUAL', value));

  test('count once however often they are written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(equal, { minLength: 1, maxLength: 33, selector: (one) => JSON.stringify(one) }),
        fc.infiniteStream(fc.nat()),
        async (distinct, picks) => {
          const repeated = [...picks.take(60)].map((n) => distinct[n % distinct.length] ?? {});
          const { code } = await bench.raw.call(
            'RunQuery',
            query({ where: or(...distinct, ...repeated.map((one) => and(one, one)).slice(0, 30)) }),
          );
          expect([distinct.length, code]).toEqual([
            distinct.length,
            distinct.length > 30 ? INVALID_ARGUMENT : 0,
          ]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('of one field count by the values that they compare together', async () => {
    const values = Array.from({ length: 7 }, (_, integerValue) => ({ integerValue }));
    const among = (n: number) => compare('a', 'IN', { arrayValue: { values: values.slice(0, n) } });
    const { code } = await bench.raw.call('RunQuery', query({ where: and(among(7), among(7)) }));
    expect(code).toBe(0);
    const three = await bench.raw.call('RunQuery', query({ where: and(among(7), among(7), among(7)) }));
    expect(three.code).toBe(INVALID_ARGUMENT);
  });
});

test('fields with inequalities are ordered by name after name, as they are without quotes', async () => {
  const names = fc.constantFrom('a', 'B', 'a b', 'a.b', 'é', 'a!');
  const path = fc.uniqueArray(names, { minLength: 1, maxLength: 2 });
  const quoted = (parts: readonly string[]) => parts.map((part) => `\`${part}\``).join('.');
  const nested = ([head = '', ...rest]: readonly string[], value: object): object => ({
    [head]: rest.length === 0 ? value : { mapValue: { fields: nested(rest, value) } },
  });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, { minLength: 2, maxLength: 2, selector: ([head]) => head }),
      async (paths) => {
        const id = JSON.stringify(paths).replaceAll('/', '');
        const [first = [], second = []] = paths.toSorted((a, b) => Buffer.compare(headOf(a), headOf(b)));
        const number = (integerValue: number) => ({ integerValue });
        const rising = set('low', { ...nested(first, number(1)), ...nested(second, number(2)) });
        const falling = set('high', { ...nested(first, number(2)), ...nested(second, number(1)) });
        const collection = `order-${Buffer.from(id).toString('hex')}`;
        const at = ({ update }: typeof rising, name: string) => ({
          update: { ...update, name: doc(`${collection}/${name}`) },
        });
        await bench.raw.call('Commit', commit(at(rising, '2'), at(falling, '1')));
        const where = and(...paths.map((one) => compare(quoted(one), 'GREATER_THAN', number(0))));
        const found = await ids({ from: [{ collectionId: collection }], where });
        expect(found).toEqual([`${collection}/2`, `${collection}/1`]);
      },
    ),
    { numRuns: 40 },
  );
});

const headOf = ([head = '']: readonly string[]) => Buffer.from(head);
