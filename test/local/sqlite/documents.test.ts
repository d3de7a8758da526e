import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { Code } from '../../../packages/local-firestore/src/model/status.ts';
import type { StorageMutation } from '../../../packages/local-firestore/src/storage/document-storage.ts';
import { SqliteStorage } from '../../../packages/local-firestore/src/storage/sqlite-storage.ts';

const put = (name: string, bytes: number): StorageMutation => ({
  kind: 'put',
  id: undefined,
  key: Buffer.from(name),
  body: Buffer.alloc(bytes, 1),
  createTime: 1,
  updateTime: 1,
  entries: { added: [], removed: [] },
});

test('documents that do not fit fail their whole group as UNAVAILABLE, nothing else is lost, and writes succeed once there is room', async () => {
  const db = new DatabaseSync(':memory:');
  const storage = new SqliteStorage(db);
  const number = storage.databaseNumber('d');
  storage.apply(number, 1, [put('kept', 10)]);
  await storage.durable();
  db.exec('PRAGMA max_page_count = 20');
  storage.apply(number, 2, [put('with it', 10)]);
  const group = storage.durable();
  const large = () => storage.apply(number, 3, [put('large', 200_000)]);
  expect(large).toThrow(expect.objectContaining({ code: Code.UNAVAILABLE }));
  await expect(group).rejects.toMatchObject({ code: Code.UNAVAILABLE });
  const found = () => ['kept', 'with it', 'large'].filter((name) => storage.get(Buffer.from(name)));
  expect(found()).toEqual(['kept']);
  db.exec('PRAGMA max_page_count = 10000');
  large();
  await storage.durable();
  expect(found()).toEqual(['kept', 'large']);
  storage.close();
});
