import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { indexesOf, mergedIndexes } from '../../packages/local/src/indexes.ts';

const index = (collectionGroup: string, fieldPath = 'at') => ({
  collectionGroup,
  fields: [{ fieldPath, order: 'ASCENDING' }],
});
const exempt = (collectionGroup: string, fieldPath: string) => ({ collectionGroup, fieldPath, indexes: [] });

test('duplicate entries of several files are merged, and the first file decides on a field', () => {
  const own = { indexes: [index('orders')], fieldOverrides: [{ ...exempt('runs', 'id'), ttl: true }] };
  const other = {
    indexes: [index('orders'), index('orders', 'by')],
    fieldOverrides: [exempt('runs', 'id'), exempt('runs', 'at')],
  };
  expect(mergedIndexes([own, other, {}])).toEqual({
    indexes: [index('orders'), index('orders', 'by')],
    fieldOverrides: [{ ...exempt('runs', 'id'), ttl: true }, exempt('runs', 'at')],
  });
  expect(mergedIndexes([])).toBeUndefined();
});

test('the files are those that firebase.json names, for one database or several', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-indexes-'));
  try {
    const firebaseJson = join(folder, 'firebase.json');
    expect(indexesOf(firebaseJson)).toEqual([]);
    writeFileSync(join(folder, 'a.json'), JSON.stringify({ indexes: [index('a')] }));
    const saying = (firestore: unknown) => {
      writeFileSync(firebaseJson, JSON.stringify({ firestore }));
      return indexesOf(firebaseJson);
    };
    expect(saying(undefined)).toEqual([]);
    expect(saying({ rules: 'firestore.rules' })).toEqual([]);
    expect(saying({ indexes: 'a.json' })).toEqual([{ indexes: [index('a')] }]);
    expect(saying([{ database: 'x', indexes: 'a.json' }, { database: 'y' }])).toHaveLength(1);
    expect(() => saying({ indexes: 'b.json' })).toThrow('b.json');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
