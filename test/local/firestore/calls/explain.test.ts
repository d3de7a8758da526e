import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AggregateField,
  type ExplainMetrics,
  FieldPath,
  FieldValue,
  Filter,
  type Firestore,
} from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bench, startBench } from '../support/client.ts';
import { RawCalls } from '../support/raw-calls.ts';
import { query as rawQuery } from '../support/requests.ts';

const FAILED_PRECONDITION = 9;
const ascending = (fieldPath: string) => ({ fieldPath, order: 'ASCENDING' });
const descending = (fieldPath: string) => ({ fieldPath, order: 'DESCENDING' });

const INDEXES = {
  indexes: [
    { collectionGroup: 'e', fields: [ascending('a'), descending('n')] },
    { collectionGroup: 'e', fields: [ascending('m'), ascending('n')] },
    {
      collectionGroup: 'e',
      fields: [ascending('a'), { fieldPath: 'at', vectorConfig: { dimension: 2, flat: {} } }],
    },
  ],
};
const COUNT = 30;

let bench: Bench;
const folder = mkdtempSync(join(tmpdir(), 'cairn-explain-'));
beforeAll(async () => {
  const indexesFile = join(folder, 'indexes.json');
  writeFileSync(indexesFile, JSON.stringify(INDEXES));
  bench = await startBench({ indexesFile });
  const batch = bench.db.batch();
  for (let n = 0; n < COUNT; n++) {
    const data = { a: n % 3, n, m: COUNT - n, tags: [n % 2], at: FieldValue.vector([n, 1]) };
    batch.set(bench.db.doc(`e/d${n}`), data);
  }
  await batch.commit();
});
afterAll(async () => {
  await bench.stop();
  rmSync(folder, { recursive: true });
});

/** Common members of queries, searches and aggregations; the client's types lack that two of them explain. */
interface Explained {
  get(): Promise<object>;
  explain(options?: object): Promise<{ metrics: ExplainMetrics; snapshot: object | null }>;
}
const e = (db: Firestore) => db.collection('e');

interface Case {
  readonly query: (db: Firestore) => Explained;
  readonly indexes: readonly string[];
  /** Results, and reads that running it is billed. */
  readonly results: number;
  readonly reads: number;
}

const QUERIES: Record<string, Case> = {
  everything: { query: e, indexes: ['(__name__ ASC)'], results: 30, reads: 30 },
  'one field equal': {
    query: (db) => e(db).where('a', '==', 1),
    indexes: ['(a ASC, __name__ ASC)'],
    results: 10,
    reads: 10,
  },
  'nothing found': {
    query: (db) => e(db).where('a', '==', 9),
    indexes: ['(a ASC, __name__ ASC)'],
    results: 0,
    reads: 1,
  },
  'an order and an offset': {
    query: (db) => e(db).orderBy('n', 'desc').offset(5).limit(4),
    indexes: ['(n DESC, __name__ DESC)'],
    results: 4,
    reads: 9,
  },
  members: {
    query: (db) => e(db).where('tags', 'array-contains', 1),
    indexes: ['(tags CONTAINS, __name__ ASC)'],
    results: 15,
    reads: 15,
  },
  'two disjunctions of one composite index': {
    query: (db) => e(db).where('a', 'in', [0, 1]).where('n', '>', 20).orderBy('n', 'desc'),
    indexes: ['(a ASC, n DESC, __name__ DESC)'],
    results: 6,
    reads: 6,
  },
  'disjunctions of two indexes': {
    query: (db) => e(db).where(Filter.or(Filter.where('a', '==', 1), Filter.where('n', '==', 2))),
    indexes: ['(a ASC, __name__ ASC)', '(n ASC, __name__ ASC)'],
    results: 11,
    reads: 11,
  },
  'ranges over two fields': {
    query: (db) => e(db).where('n', '>', 3).where('m', '>', 25),
    indexes: ['(m ASC, n ASC, __name__ ASC)'],
    results: 1,
    reads: 1 + 1,
  },
  'names and an order': {
    query: (db) => e(db).where(FieldPath.documentId(), 'in', ['d1', 'd2']).orderBy('n'),
    indexes: ['(__name__ ASC)'],
    results: 2,
    reads: 2 + 1,
  },
  'the nearest': {
    query: (db) =>
      e(db)
        .where('a', '==', 2)
        .findNearest({
          vectorField: 'at',
          queryVector: [1, 1],
          limit: 4,
          distanceMeasure: 'COSINE',
        }) as unknown as Explained,
    indexes: ['(a ASC, __name__ ASC, at VECTOR<2>)'],
    results: 4,
    reads: 4 + 1,
  },
  'a sum': {
    query: (db) =>
      e(db)
        .where('n', '<', 7)
        .aggregate({ value: AggregateField.sum('n') }) as unknown as Explained,
    indexes: ['(n ASC, __name__ ASC)'],
    results: 1,
    reads: 1,
  },
};
const TABLE = Object.entries(QUERIES);

const metered = () => bench.server.meter.snapshot().total.reads;

describe('only planned', () => {
  test.each(TABLE)(
    '%s tells its indexes, runs nothing and is billed one read',
    async (_what, { query, indexes }) => {
      const before = metered();
      const { metrics, snapshot } = await query(bench.db).explain();
      expect(propertiesOf(metrics)).toEqual(indexes);
      expect({ stats: metrics.executionStats, snapshot }).toEqual({ stats: null, snapshot: null });
      expect(metered() - before).toBe(1);
    },
  );

  test('names a collection group, and for a vector search the index that production would need', async () => {
    const free = await startBench();
    const search = free.db
      .collectionGroup('e')
      .where('color', '==', 'red')
      .findNearest({ vectorField: 'at', queryVector: [1, 2, 3], limit: 1, distanceMeasure: 'EUCLIDEAN' });
    const { metrics } = await (search as unknown as Explained).explain();
    await free.stop();
    expect(metrics.planSummary.indexesUsed).toEqual([
      { query_scope: 'Collection group', properties: '(color ASC, __name__ ASC, at VECTOR<3>)' },
    ]);
  });

  test('a query without its index is refused as without explain', async () => {
    const query = e(bench.db).where('tags', 'array-contains', 1).orderBy('n');
    await expect(query.explain()).rejects.toMatchObject({ code: FAILED_PRECONDITION });
  });
});

describe('run and explained', () => {
  test.each(TABLE)('%s returns the usual results and what was billed', async (_what, expected) => {
    const query = expected.query(bench.db);
    const plain = contentOf(await query.get());
    const before = metered();
    const { metrics, snapshot } = await query.explain({ analyze: true });
    expect(contentOf(snapshot)).toEqual(plain);
    expect(propertiesOf(metrics)).toEqual(expected.indexes);
    const { resultsReturned, readOperations, executionDuration, debugStats } =
      metrics.executionStats as never as Stats;
    expect({ resultsReturned, readOperations }).toEqual({
      resultsReturned: expected.results,
      readOperations: expected.reads,
    });
    expect(metered() - before).toBe(expected.reads);
    expect(executionDuration.seconds + executionDuration.nanoseconds).toBeGreaterThan(0);
    expect(Number(debugStats.index_entries_scanned)).toBeGreaterThanOrEqual(
      expected.results > 1 ? expected.results : 0,
    );
    const { documents_billable, index_entries_billable, min_query_cost } = debugStats.billing_details;
    const parts = [documents_billable, index_entries_billable, min_query_cost].map(Number);
    expect(parts.every(Number.isSafeInteger)).toBe(true);
  });

  test('the index entries of two ranges are counted as read', async () => {
    const query = e(bench.db).where('n', '>', 3).where('m', '>', 25);
    const { metrics } = await query.explain({ analyze: true });
    expect(metrics.executionStats?.debugStats).toMatchObject({
      index_entries_scanned: '5',
      documents_scanned: '1',
      billing_details: { documents_billable: '1', index_entries_billable: '5', min_query_cost: '0' },
    });
  });

  test('a stream reports it with its last document', async () => {
    const seen: { document?: object; metrics?: object }[] = [];
    for await (const message of e(bench.db).limit(2).explainStream({ analyze: true }))
      seen.push(message as never);
    expect(seen.map((m) => Boolean(m.document && !m.metrics))).toEqual([true, false]);
  });

  test('a plan-only request can begin a transaction', async () => {
    const raw = new RawCalls(bench.server.host);
    const request = { ...rawQuery({}), explainOptions: {}, newTransaction: { readOnly: {} } };
    const { messages } = await raw.call('RunQuery', request);
    raw.close();
    expect(messages.map((m) => Object.keys(m))).toEqual([['transaction'], ['explainMetrics']]);
  });
});

interface Stats {
  readonly resultsReturned: number;
  readonly readOperations: number;
  readonly executionDuration: { readonly seconds: number; readonly nanoseconds: number };
  readonly debugStats: {
    readonly index_entries_scanned: string;
    readonly billing_details: Record<string, string>;
  };
}

function propertiesOf({ planSummary }: ExplainMetrics): unknown[] {
  return planSummary.indexesUsed.map((index) => {
    expect(index.query_scope).toBe('Collection');
    return index.properties;
  });
}

function contentOf(snapshot: object | null): unknown {
  if (snapshot && 'docs' in snapshot) return (snapshot.docs as { id: string }[]).map((d) => d.id);
  return (snapshot as { data(): object }).data();
}
