import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FirestoreStoreProbe } from '../../packages/cairn/src/store/diagnosis/firestore-store-probe.ts';
import { type IndexProbe, indexProbes } from '../../packages/cairn/src/store/diagnosis/index-probes.ts';
import { type FirestoreServer, startFirestoreServer } from '../../packages/local-firestore/src/server.ts';

interface IndexFile {
  readonly indexes: readonly {
    readonly collectionGroup: string;
    readonly fields: readonly { readonly fieldPath: string; readonly order: string }[];
  }[];
  readonly fieldOverrides: readonly {
    readonly collectionGroup: string;
    readonly fieldPath: string;
    readonly indexes: readonly object[];
  }[];
}

const file: IndexFile = JSON.parse(
  readFileSync(new URL('../../firestore.indexes.json', import.meta.url), 'utf8'),
);
const nameOf = ({ collection, fields }: { collection: string; fields: readonly string[] }) =>
  `${collection}: ${fields.join(' ')}`;
const composite = file.indexes.map(({ collectionGroup: collection, fields }) =>
  nameOf({
    collection,
    fields: fields.map(({ fieldPath, order }) => (order === 'DESCENDING' ? `-${fieldPath}` : fieldPath)),
  }),
);
const single = file.fieldOverrides
  .filter(({ indexes }) => indexes.length > 0)
  .map(({ collectionGroup, fieldPath }) => `${collectionGroup}: ${fieldPath}`);

const folder = mkdtempSync(join(tmpdir(), 'cairn-indexes-'));
const opened: { server: FirestoreServer; db: Firestore }[] = [];

async function storeWith(indexes: IndexFile): Promise<Firestore> {
  const indexesFile = join(folder, `${opened.length}.json`);
  writeFileSync(indexesFile, JSON.stringify(indexes));
  const server = await startFirestoreServer({ storage: { kind: 'memory' }, indexesFile });
  process.env.METADATA_SERVER_DETECTION = 'none';
  const [host = '', port] = server.host.split(':');
  const db = new Firestore({ projectId: 'p', host: `${host}:${port}`, ssl: false });
  opened.push({ server, db });
  return db;
}

afterAll(async () => {
  for (const { server, db } of opened) {
    await db.terminate();
    await server.stop();
  }
  rmSync(folder, { recursive: true });
});

/** Index that the store requires for the query, in the format of the file; undefined: none. */
async function missingFor({ ask }: IndexProbe): Promise<string | undefined> {
  try {
    await ask();
    return undefined;
  } catch (error) {
    const [, declaration = ''] = /under \w+: (\{.*\})/s.exec((error as Error).message) ?? [];
    const { collectionGroup, fields, fieldPath } = JSON.parse(declaration);
    const names: string[] = fields
      ? fields.map((field: { fieldPath: string; order: string }) =>
          field.order === 'DESCENDING' ? `-${field.fieldPath}` : field.fieldPath,
        )
      : [fieldPath];
    return `${collectionGroup}: ${names.join(' ')}`;
  }
}

/** Sorts the equality members of the name (all but the last), because an index serves equality filters in any order. */
function anyOrder(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const [collection = '', ...members] = name.split(' ');
  return [collection, ...members.slice(0, -1).sort(), ...members.slice(-1)].join(' ');
}

describe('the probed queries', () => {
  let bare: readonly IndexProbe[];
  beforeAll(async () => {
    const fieldOverrides = file.fieldOverrides.map((override) => ({ ...override, indexes: [] }));
    bare = indexProbes(await storeWith({ indexes: [], fieldOverrides }));
  });

  test('need exactly the indexes that are deployed', () => {
    expect(bare.map(nameOf).toSorted()).toEqual([...composite, ...single].toSorted());
  });

  test('are refused exactly without the index that the table names', async () => {
    for (const probe of bare) expect(anyOrder(await missingFor(probe))).toBe(anyOrder(nameOf(probe)));
  });
});

test('report a missing index and no other, at one read a query', async () => {
  const gone = 'gwi_schedules: state nextAt';
  const indexes = file.indexes.filter((_, i) => composite[i] !== gone);
  expect(indexes.length).toBe(file.indexes.length - 1);
  const db = await storeWith({ ...file, indexes });
  const server = opened.at(-1)?.server;
  server?.meter.reset();
  const look = new FirestoreStoreProbe({ db, randomId: () => '8' });
  const seen = await look.indexes();
  expect(seen.filter(({ state }) => state !== 'ready').map((one) => `${one.state} ${nameOf(one)}`)).toEqual([
    `missing ${gone}`,
  ]);
  // No read for the refused query, and two for silent runs, which are queried by status.
  expect(server?.meter.snapshot().total).toMatchObject({ reads: seen.length - 1 + 1, writes: 0 });
});

test.each([
  ['9 FAILED_PRECONDITION: The query requires an index. That index is currently building.', 9, 'building'],
  ['9 FAILED_PRECONDITION: The query requires an index.', 9, 'missing'],
  ['3 INVALID_ARGUMENT', 3, 'unknown'],
])('an answer like "%s" is interpreted by its content', async (message, code, state) => {
  const { db } = opened.at(-1) ?? {};
  if (!db) throw new Error('no store was opened');
  const refusing = new Proxy(db, {
    get(of, name) {
      const value = Reflect.get(of, name, of);
      if (name !== 'collection') return typeof value === 'function' ? value.bind(of) : value;
      const query: unknown = new Proxy(
        {},
        {
          get: (_, method) =>
            method === 'get'
              ? () => Promise.reject(Object.assign(new Error(message), { code }))
              : method === 'id'
                ? 'gwi_runs'
                : () => query,
        },
      );
      return () => query;
    },
  });
  const seen = await new FirestoreStoreProbe({ db: refusing, randomId: () => '8' }).indexes();
  expect(new Set(seen.map((one) => one.state))).toEqual(new Set([state]));
});
