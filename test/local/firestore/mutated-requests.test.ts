import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setRawBench } from './support/raw-bench.ts';
import { commit, database, doc, one, query, set, text, transform } from './support/requests.ts';

const OK = 0;
const DEADLINE_EXCEEDED = 4;
const MUTATIONS = 250;

const bench = setRawBench();

test('for any bytes the server returns a status, stays up, and stores only readable documents', async () => {
  const good: [string, object][] = [
    [
      'Commit',
      commit({ ...set('m/a', { t: text('x'), m: { mapValue: { fields: { k: { doubleValue: 2 } } } } }) }),
    ],
    [
      'Commit',
      commit({
        ...transform('n'),
        updateMask: { fieldPaths: ['a', 'b.c'] },
        currentDocument: { exists: true },
      }),
    ],
    [
      'BatchWrite',
      commit(set('m/b', { l: { arrayValue: { values: [one, { timestampValue: { seconds: 1 } }] } } })),
    ],
    [
      'CreateDocument',
      { parent: `${database}/documents`, collectionId: 'm', document: { fields: { t: text('y') } } },
    ],
    [
      'UpdateDocument',
      { document: { name: doc('m/c'), fields: { g: { geoPointValue: { latitude: 1 } }, z: text('z') } } },
    ],
    ['BatchGetDocuments', { database, documents: [doc('m/a')], mask: { fieldPaths: ['t'] } }],
    [
      'RunQuery',
      query({ orderBy: [{ field: { fieldPath: 'a' } }], startAt: { values: [one] }, limit: { value: 3 } }),
    ],
  ];
  // Most edits are after the long names at the beginning, because an edited name is refused at once.
  const place = fc.noBias(fc.nat(999)).map((x) => (x / 1_000) ** 0.3);
  const edits = fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 3 });
  const mutation = fc.record({
    which: fc.nat(good.length - 1),
    edits,
    keep: fc.option(place, { freq: 2, nil: 1 }),
  });
  let stored = 0;
  await fc.assert(
    fc.asyncProperty(mutation, async ({ which, edits, keep }) => {
      const [method, request] = good[which] as [string, object];
      const bytes = bench.raw.encode(method, request);
      for (const [at, value] of edits) bytes[Math.floor(at * bytes.length)] = value;
      const { code, details } = await bench.raw.send(
        method,
        bytes.subarray(0, Math.ceil(keep * bytes.length)),
      );
      expect(details).not.toMatch(/Defect/);
      expect(code).not.toBe(DEADLINE_EXCEEDED);
      if (code === OK) stored++;
    }),
    { numRuns: MUTATIONS * good.length, seed: 1 },
  );
  expect(stored).toBeGreaterThan(MUTATIONS / 10);
  const collections = await bench.db.listCollections();
  for (const collection of collections) for (const found of (await collection.get()).docs) found.data();
  expect(collections.length).toBeGreaterThan(0);
});
