import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { AUTOMATIC_INDEXES } from '../../../packages/local-firestore/src/model/index/index-config.ts';
import { parseDocument } from '../../../packages/local-firestore/src/model/resource-name.ts';
import { Code, type StatusError } from '../../../packages/local-firestore/src/model/status.ts';
import type { Value } from '../../../packages/local-firestore/src/model/value.ts';
import type { Write } from '../../../packages/local-firestore/src/model/write.ts';
import { TransactionalStore } from '../../../packages/local-firestore/src/service/transactional-store.ts';
import type { StorageMutation } from '../../../packages/local-firestore/src/storage/document-storage.ts';
import {
  openDocuments,
  openSqliteStorage,
  SqliteStorage,
} from '../../../packages/local-firestore/src/storage/sqlite-storage.ts';
import { until } from '../support.ts';

const OTHER_PROCESS = `
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(process.argv[1]);
  try { db.exec('CREATE TABLE other (n)'); } catch (error) { process.stdout.write(String(error.errcode)); }`;
const SQLITE_BUSY = '5';

test('a file that was opened in vain a second time, by another name, is still kept from other processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-owned-'));
  const file = join(folder, 'data.sqlite');
  const alias = join(folder, 'alias');
  symlinkSync(folder, alias);
  const owner = openSqliteStorage(file);
  try {
    expect(() => openSqliteStorage(join(alias, 'data.sqlite'))).toThrow(/in use by another process/);
    expect(execFileSync(process.execPath, ['-e', OTHER_PROCESS, file], { encoding: 'utf8' })).toBe(
      SQLITE_BUSY,
    );
  } finally {
    owner.close();
    rmSync(folder, { recursive: true });
  }
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

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
  const opened = openDocuments(undefined);
  const { db } = opened;
  const storage = new SqliteStorage(opened);
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
  await turn();
  large();
  await storage.durable();
  expect(found()).toEqual(['kept', 'large']);
  storage.close();
});

// Only Linux has early writes, and shows the open files of a process.
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'on Linux, a log that is written to the disk early is released by the end, and nothing is missing after it',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-early-sync-'));
    const file = join(folder, 'documents.sqlite');
    /** Files of this folder that the process has open. */
    const opened = () =>
      readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/self/fd/${fd}`)].filter((path) => path.startsWith(folder));
        } catch {
          return []; // It was closed meanwhile.
        }
      });
    try {
      const storage = openSqliteStorage(file);
      const before = opened();
      const number = storage.databaseNumber('d');
      const names = Array.from({ length: 1_200 }, (_, i) => `document ${i}`);
      for (const [i, name] of names.entries()) {
        storage.apply(number, i + 1, [put(name, 100)]);
        if (i % 100 === 99) await storage.durable();
      }
      // Otherwise the test would prove nothing.
      expect(opened().length).toBeGreaterThan(before.length);
      storage.close();
      await until(() => opened().length === 0, 'its files to be closed');
      const again = openSqliteStorage(file);
      expect(names.filter((name) => !again.get(Buffer.from(name)))).toEqual([]);
      again.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test('a commit is refused if its group was already rolled back, as is each further one of that step', async () => {
  const opened = openDocuments(undefined);
  const { db } = opened;
  const storage = new SqliteStorage(opened);
  const store = new TransactionalStore({ storage, clock: () => 1, indexes: AUTOMATIC_INDEXES });
  const database = store.databases.get('projects/p/databases/(default)');
  const set = (id: string, bytes: number): Write => {
    const name = `${database.name}/documents/c/${id}`;
    const fields = new Map<string, Value>([['v', { kind: 'bytes', value: Buffer.alloc(bytes) }]]);
    const precondition = { kind: 'none' } as const;
    const resource = parseDocument(name);
    return {
      kind: 'set',
      name,
      resource,
      fields,
      mask: undefined,
      transforms: [],
      precondition,
      body: undefined,
    };
  };
  const commit = (id: string, bytes: number) =>
    store.commit(database, [set(id, bytes)], undefined).then(
      () => `${id} acknowledged`,
      (error: StatusError) => `${id} ${error.code}`,
    );
  db.exec('PRAGMA max_page_count = 30');
  // The requests arrive in one step of the event loop.
  const outcomes = await Promise.all([commit('first', 10), commit('large', 200_000), commit('third', 10)]);
  expect(outcomes).toEqual(['first', 'large', 'third'].map((id) => `${id} ${Code.UNAVAILABLE}`));
  await turn();
  expect(await commit('later', 10)).toBe('later acknowledged');
  const found = ['first', 'large', 'third', 'later'].filter((id) =>
    database.get({ name: `${database.name}/documents/c/${id}`, segments: ['c', id] }),
  );
  expect(found).toEqual(['later']);
  storage.close();
});

test('a reset that fails at its second database has aborted the transactions of the first', () => {
  const storage = openSqliteStorage(undefined);
  const store = new TransactionalStore({ storage, clock: () => 1, indexes: AUTOMATIC_INDEXES });
  const names = ['p', 'q'].map((project) => `projects/${project}/databases/(default)`);
  const open = names.map((name) => store.begin(name, { kind: 'readOnly' }));
  const full = new Error('the disk is full');
  const clear = storage.clear.bind(storage);
  let isFirst = true;
  storage.clear = (number) => {
    if (!isFirst) throw full;
    isFirst = false;
    clear(number);
  };
  expect(() => store.clear(names)).toThrow(full);
  expect(open.map(({ abortReason }) => abortReason !== undefined)).toEqual([true, false]);
  storage.close();
});
