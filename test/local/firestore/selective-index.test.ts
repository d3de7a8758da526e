/** A query reads the index with the fewest matches if several indexes serve it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExplainMetrics, Query } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bench, startBench } from './support/client.ts';

const ascending = (fieldPath: string) => ({ fieldPath, order: 'ASCENDING' });
const INDEXES = {
  indexes: [
    { collectionGroup: 'runs', fields: [ascending('status'), ascending('at')] },
    {
      collectionGroup: 'runs',
      fields: [{ fieldPath: 'names', arrayConfig: 'CONTAINS' }, ascending('type'), ascending('at')],
    },
  ],
};
const COUNT = 40;
/** Values have different frequencies: most documents have `common`, two have `rare`. */
const documentOf = (n: number) => ({
  at: n,
  type: 'one',
  status: n % 20 === 0 ? 'rare' : n % 4 === 0 ? 'some' : 'common',
  names: ['all', ...(n % 13 === 0 ? ['few'] : []), ...(n === 7 ? ['single'] : [])],
});
const DOCUMENTS = Array.from({ length: COUNT }, (_, n) => documentOf(n));
const PAIRS = ['rare', 'some', 'common', 'none'].flatMap((status) =>
  ['all', 'few', 'single', 'none'].map((name) => ({ status, name })),
);

let bench: Bench;
const folder = mkdtempSync(join(tmpdir(), 'cairn-selective-'));
beforeAll(async () => {
  const indexesFile = join(folder, 'indexes.json');
  writeFileSync(indexesFile, JSON.stringify(INDEXES));
  bench = await startBench({ indexesFile });
  const batch = bench.db.batch();
  for (const [n, data] of DOCUMENTS.entries()) batch.set(bench.db.doc(`runs/${n}`), data);
  await batch.commit();
});
afterAll(async () => {
  await bench.stop();
  rmSync(folder, { recursive: true });
});

async function entriesRead(query: Query) {
  const { metrics } = await query.explain({ analyze: true });
  const stats = (metrics as ExplainMetrics).executionStats?.debugStats as Record<string, string> | undefined;
  return Number(stats?.index_entries_scanned);
}

describe.each(PAIRS)('status $status and name $name', ({ status, name }) => {
  const withStatus = DOCUMENTS.filter((one) => one.status === status);
  const withName = DOCUMENTS.filter(({ names }) => names.includes(name));
  const least = Math.min(withStatus.length, withName.length);
  const both = withStatus.filter((one) => withName.includes(one));

  test('in an order', async () => {
    const query = bench.db
      .collection('runs')
      .where('type', '==', 'one')
      .where('status', '==', status)
      .where('names', 'array-contains', name)
      .orderBy('at');
    expect(await entriesRead(query)).toBe(least);
    expect((await query.get()).docs.map((one) => one.data())).toEqual(both);
  });

  test('by the indexes of the fields', async () => {
    const query = bench.db
      .collection('runs')
      .where('status', '==', status)
      .where('names', 'array-contains', name);
    expect(await entriesRead(query)).toBe(least);
    const { docs } = await query.get();
    expect(docs.map((one) => one.get('at') as number).sort((a, b) => a - b)).toEqual(
      both.map(({ at }) => at),
    );
  });
});
