import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ExportFileError, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { type Bench, startBench } from '../firestore/support/client.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.stop());

test('an export is a consistent snapshot, and an import restores it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-export-'));
  const file = join(folder, 'copy.sqlite');
  const { db, server } = bench;
  await db.doc('ex/a').set({ v: 1, list: ['x'] });
  server.exportTo(file);
  await db.doc('ex/a').set({ v: 2 });
  await db.doc('ex/b').set({ v: 3 });
  server.importFrom(file);
  expect((await db.doc('ex/a').get()).data()).toEqual({ v: 1, list: ['x'] });
  expect((await db.collection('ex').where('list', 'array-contains', 'x').get()).size).toBe(1);
  expect((await db.collection('ex').get()).size).toBe(1);
  const after = await db.doc('ex/a').set({ v: 4 });
  expect((await db.doc('ex/a').get()).updateTime?.isEqual(after.writeTime)).toBe(true);
  expect(() => server.exportTo(file)).toThrow();
  rmSync(folder, { recursive: true });
});

describe('an import refuses, with nothing changed,', () => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cairn-import-'));
    file = join(folder, 'copy.sqlite');
    await bench.db.doc('imported/a').set({ v: 'x'.repeat(100_000) });
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    rmSync(file, { force: true, recursive: true });
    bench.server.exportTo(file);
  });

  const changed = (sql: string) => () => {
    const db = new DatabaseSync(file);
    db.exec(sql);
    db.close();
  };
  const overwritten = (at: number, bytes: number) => () => {
    const fd = openSync(file, 'r+');
    writeSync(fd, Buffer.alloc(bytes, 0xff), 0, bytes, at);
    closeSync(fd);
  };
  const replacedByFolder = () => {
    rmSync(file);
    mkdirSync(file);
  };
  test.each<[string, () => void, RegExp]>([
    ['text', () => writeFileSync(file, 'no database '.repeat(100)), /is not an SQLite database/],
    ['an empty file', () => writeFileSync(file, ''), /is not an export of a local Firestore/],
    ['a database without a table', changed('DROP TABLE settings'), /is not an export/],
    [
      'a database with another column',
      changed('ALTER TABLE documents ADD COLUMN more TEXT'),
      /is not an export/,
    ],
    ['a later format', changed('PRAGMA user_version = 9'), /by a later version of Cairn \(format 9;/],
    ['a cut file', () => truncateSync(file, 8_192), /is damaged/],
    ['a damaged header', overwritten(0, 16), /is not an SQLite database/],
    ['a directory', replacedByFolder, /cannot be read as an export: /],
    ['a header of an unknown format', overwritten(44, 4), /cannot be read as an export: /],
    ['damaged pages', overwritten(4_096, 4_096), /is damaged/],
  ])('%s', async (_, damage, reason) => {
    const { db, server } = bench;
    await db.doc('imported/after').set({ v: 1 });
    damage();
    expect(() => server.importFrom(file)).toThrow(ExportFileError);
    expect(() => server.importFrom(file)).toThrow(reason);
    expect((await db.collection('imported').get()).size).toBe(2);
  });

  test('the data of a running server', async () => {
    const own = join(folder, 'own.sqlite');
    const other = await startFirestoreServer({ storage: { kind: 'sqlite', file: own } });
    try {
      expect(() => bench.server.importFrom(own)).toThrow(/is in use/);
    } finally {
      await other.stop();
    }
  });
});
