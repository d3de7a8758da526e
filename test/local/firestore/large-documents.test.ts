import { afterEach, expect, test } from '@jest/globals';
import type {
  DocumentStorage,
  StorageMutation,
} from '../../../packages/local-firestore/src/storage/document-storage.ts';
import { LARGE_BODY_BYTES, LargeBodies } from '../../../packages/local-firestore/src/storage/large-bodies.ts';
import { openSqliteStorage } from '../../../packages/local-firestore/src/storage/sqlite-storage.ts';

const KEY = Buffer.from('key');
const ENTRY = Buffer.from('entry');
const ALL = { from: Buffer.from([0]), to: undefined, reverse: false, limit: 10 };
const DATABASE = 1;
let storage: DocumentStorage | undefined;
afterEach(() => {
  storage?.close();
  storage = undefined;
});

function body(letter: string): Buffer {
  return Buffer.alloc(LARGE_BODY_BYTES, letter);
}

function put(letter: string, time: number, id?: number): StorageMutation {
  const entries = { added: id === undefined ? [ENTRY] : [], removed: [] };
  return { kind: 'put', id, key: KEY, body: body(letter), createTime: time, updateTime: time, entries };
}

/** First letter of each document, by both kinds of scan. */
function scanned(of: DocumentStorage): string[] {
  const found = [...of.scanDocuments(ALL), ...of.scanEntries(ALL).map(({ document }) => document)];
  return found.map((document) => String.fromCharCode(document.body[0] ?? 0));
}

test('a large document is read as last written, after any changes', () => {
  storage = openSqliteStorage(undefined);
  storage.databaseNumber('projects/p/databases/d');
  storage.apply(DATABASE, 1, [put('a', 1)]);
  const { id } = storage.get(KEY) ?? {};
  expect(scanned(storage)).toEqual(['a', 'a']);
  expect(scanned(storage)).toEqual(['a', 'a']);
  storage.apply(DATABASE, 2, [put('b', 2, id)]);
  expect(scanned(storage)).toEqual(['b', 'b']);
  const removed = { kind: 'remove', id: id as number, entries: { added: [], removed: [ENTRY] } } as const;
  storage.apply(DATABASE, 3, [removed]);
  expect(scanned(storage)).toEqual([]);
  storage.apply(DATABASE, 4, [put('c', 4)]);
  expect(scanned(storage)).toEqual(['c', 'c']);
});

test('a rolled-back change is not read', async () => {
  storage = openSqliteStorage(undefined);
  storage.databaseNumber('projects/p/databases/d');
  storage.apply(DATABASE, 1, [put('a', 1)]);
  await storage.durable();
  const { id } = storage.get(KEY) ?? {};
  storage.apply(DATABASE, 2, [put('b', 2, id)]);
  expect(scanned(storage)).toEqual(['b', 'b']);
  const failed = storage;
  const twice = { ...put('x', 2), entries: { added: [ENTRY], removed: [] } };
  expect(() => failed.apply(DATABASE, 2, [twice])).toThrow('UNIQUE');
  expect(scanned(storage)).toEqual(['a', 'a']);
  // Everything is refused until the step of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  storage.apply(DATABASE, 2, [put('c', 2, id)]);
  expect(scanned(storage)).toEqual(['c', 'c']);
});

test('recently read documents are cached up to a number of bytes', () => {
  const bodies = new LargeBodies();
  const reads: number[] = [];
  const read = (id: number) =>
    bodies.of(id, 1, () => {
      reads.push(id);
      return Buffer.alloc(12 * 1024 * 1024);
    });
  for (const id of [1, 2, 1, 3, 1, 2, 2]) read(id);
  expect(reads).toEqual([1, 2, 3, 2]);
});
