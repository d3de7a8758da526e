import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { GroupedDatabase } from '../../../packages/local-kit/src/sqlite/grouped-database.ts';
import { StorageFullError } from '../../../packages/local-kit/src/sqlite/storage-full.ts';
import { DATA_FORMAT, NewerDataError } from '../../../packages/local-kit/src/sqlite/witness.ts';

const PAGE = 4096;
/** Bytes of one frame in the log, with its head. */
const FRAME = PAGE + 24;
const WAL_HEAD = 32;

let folder: string;
let file: string;
const opened: { close(): void }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-sqlite-'));
  file = join(folder, 'data.sqlite');
});
afterEach(() => {
  for (const db of opened.splice(0)) db.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(acceptDamage = false, at = file, sync = false, sql = SQL) {
  const db: GroupedDatabase<typeof SQL, number> = new GroupedDatabase({
    storage: { kind: 'sqlite', file: at, acceptDamage, sync },
    schema: 'CREATE TABLE IF NOT EXISTS rows (value BLOB NOT NULL) STRICT',
    sql,
    apply: (bytes: number) => void db.statements.add.run(Buffer.alloc(bytes, 1)),
  });
  return db;
}

const SQL = {
  add: 'INSERT INTO rows VALUES (?)',
  clear: 'DELETE FROM rows',
  count: 'SELECT count(*) AS n FROM rows',
  noMore: 'PRAGMA max_page_count = 12',
  room: 'PRAGMA max_page_count = 10000',
  synchronous: 'PRAGMA synchronous',
  format: 'PRAGMA user_version',
};

const rows = (db: ReturnType<typeof open>) => Number(db.statements.count.get()?.n);
const add = (db: ReturnType<typeof open>, bytes = 100) => db.statements.add.run(Buffer.alloc(bytes, 1));

/** A copy of the files as a process that is killed now would leave them. */
function killed(): string {
  const left = join(folder, 'left.sqlite');
  for (const part of ['', '-wal', '-commits'])
    if (existsSync(`${file}${part}`)) copyFileSync(`${file}${part}`, `${left}${part}`);
  return left;
}

function flip(name: string, at: number): void {
  const bytes = readFileSync(name);
  const place = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(place) ^ 0x10, place);
  writeFileSync(name, bytes);
}

describe('a full disk', () => {
  test('refuses the write that does not fit, keeps all others, and accepts writes when there is room', () => {
    const db = open();
    opened.push(db);
    add(db);
    db.statements.noMore.get();
    expect(() => add(db, 20 * PAGE)).toThrow(StorageFullError);
    expect(() => db.transaction(() => add(db, 20 * PAGE))).toThrow(StorageFullError);
    expect(rows(db)).toBe(1);
    db.statements.room.get();
    add(db, 20 * PAGE);
    expect(rows(db)).toBe(2);
  });

  test('keeps deferred writes until there is room, and answers reads meanwhile', () => {
    const db = open();
    opened.push(db);
    db.statements.noMore.get();
    db.later(20 * PAGE);
    db.catchUp();
    expect(rows(db)).toBe(0);
    expect(() => db.flush()).toThrow(StorageFullError);
    db.later(100);
    db.statements.room.get();
    db.catchUp();
    expect(rows(db)).toBe(2);
  });
});

/** SQLite's numbers of NORMAL and FULL. */
test.each([
  [false, 1],
  [true, 2],
])('with sync %j the log is synced by the setting %i', (sync, setting) => {
  const db = open(false, file, sync);
  opened.push(db);
  expect(db.statements.synchronous.get()).toEqual({ synchronous: setting });
});

test('with sync the log is preallocated before the first commit, grows when it is full, and is removed at an orderly exit', () => {
  const db = open(false, file, true);
  const reserved = statSync(`${file}-wal`).size;
  expect(reserved).toBe(4 * 1024 * 1024);
  add(db);
  expect(statSync(`${file}-wal`).size).toBe(reserved);
  for (let i = 0; i < 5; i++) add(db, 1024 * 1024);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(reserved);
  db.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  const again = open(false, file, true);
  opened.push(again);
  expect(rows(again)).toBe(6);
});

test.each([false, true])('a database whose opening failed does not count as open (sync %j)', (sync) => {
  const db = open(false, file, sync);
  add(db);
  db.close();
  expect(() => open(false, file, sync, { ...SQL, count: 'SELECT * FROM nowhere' })).toThrow('nowhere');
  // A later version counts its commits in another way.
  const later = new DatabaseSync(file);
  later.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA user_version = 99; UPDATE commits SET number = 0');
  later.close();
  expect(() => open(false, file, sync)).toThrow(NewerDataError);
});

/** The format number in the file, read without SQLite. */
const inFile = (name: string) => readFileSync(name).readUInt32BE(60);

describe('files of another version', () => {
  const format = (value: number) => {
    const db = new DatabaseSync(file);
    db.exec(`PRAGMA user_version = ${value}`);
    db.close();
    rmSync(`${file}-commits`);
  };

  test('are used if they have no format or an earlier one, and have that of this version afterwards', () => {
    const db = open();
    add(db);
    db.close();
    format(0);
    const again = open();
    opened.push(again);
    expect(rows(again)).toBe(1);
    expect(again.statements.format.get()).toEqual({ user_version: DATA_FORMAT });
    // In the file itself, because an earlier version reads it before the log.
    expect(inFile(killed())).toBe(DATA_FORMAT);
  });

  test('whose mark is only in the log get it in the file, and are refused if it is later', () => {
    for (const value of [DATA_FORMAT, DATA_FORMAT + 1]) {
      const db = new DatabaseSync(file);
      db.exec(`PRAGMA journal_mode = WAL; PRAGMA user_version = ${value};`);
      const left = killed();
      db.close();
      expect(inFile(left)).toBe(value === DATA_FORMAT ? 0 : DATA_FORMAT);
      if (value > DATA_FORMAT) expect(() => open(false, left)).toThrow(NewerDataError);
      else open(false, left).close();
      // Closing the last connection moves the log into the file.
      expect(inFile(left)).toBe(value);
    }
  });

  test.each([false, true])(
    'are refused unchanged if it is later, with damage accepted: %j',
    (acceptDamage) => {
      open().close();
      format(DATA_FORMAT + 1);
      const before = readFileSync(file);
      expect(() => open(acceptDamage)).toThrow(NewerDataError);
      expect(readFileSync(file)).toEqual(before);
      expect(readdirSync(folder)).toEqual(['data.sqlite']);
    },
  );
});

describe('files of a process that was killed', () => {
  test.each([false, true])('are read completely if intact, with sync %j', (sync) => {
    const db = open(false, file, sync);
    opened.push(db);
    for (let i = 0; i < 10; i++) add(db);
    const again = open(false, killed());
    opened.push(again);
    expect(rows(again)).toBe(10);
  });

  test('that lack an acknowledged commit are refused with the number of lost commits', () => {
    const db = open();
    opened.push(db);
    for (let i = 0; i < 10; i++) add(db);
    const left = killed();
    const frames = (readFileSync(`${left}-wal`).length - WAL_HEAD) / FRAME;
    truncateSync(`${left}-wal`, WAL_HEAD + (frames - 1) * FRAME);
    expect(() => open(false, left)).toThrow(
      /of \d+ acknowledged commits only the first \d+ can be read; the last 1 are lost/,
    );
    // A refused start changes nothing, so the next one is refused too.
    expect(() => open(false, left)).toThrow(/--accept-damage/);
  });

  test('that lack the end of a log with reserved space are refused', () => {
    const db = open(false, file, true);
    opened.push(db);
    for (let i = 0; i < 10; i++) add(db);
    const left = killed();
    const log = readFileSync(`${left}-wal`);
    const end = log.findLastIndex((byte) => byte !== 0) + 1;
    writeFileSync(`${left}-wal`, log.fill(0, end - FRAME / 2, end));
    expect(() => open(false, left)).toThrow(/the last 1 are lost/);
  });

  test('with a flipped bit in the log are refused; the rest can be accepted once, and is kept', () => {
    const db = open();
    opened.push(db);
    for (let i = 0; i < 10; i++) add(db);
    const left = killed();
    flip(`${left}-wal`, -100);
    expect(() => open(false, left)).toThrow(/the last 1 are lost/);
    const damaged = readFileSync(`${left}-wal`);
    const accepted = open(true, left);
    expect(rows(accepted)).toBe(9);
    add(accepted);
    accepted.close();
    expect(readFileSync(`${left}-wal.damaged`)).toEqual(damaged);
    const again = open(false, left);
    opened.push(again);
    expect(rows(again)).toBe(10);
  });

  test('without their log, or without the database, are refused', () => {
    const db = open();
    opened.push(db);
    add(db);
    const left = killed();
    rmSync(`${left}-wal`);
    expect(() => open(false, left)).toThrow(/is damaged/);
    rmSync(left, { force: true });
    expect(() => open(false, left)).toThrow(/it is missing, with \d+ commits/);
  });

  test.each([
    ['emptied', (left: string) => truncateSync(left), /it is empty, with \d+ commits/],
    ['removed', (left: string) => rmSync(left), /it is missing, with \d+ commits/],
    [
      'removed with its commit count',
      (left: string) => {
        rmSync(left);
        rmSync(`${left}-commits`);
      },
      /it is missing, with a log of commits/,
    ],
  ])('whose database was %s are refused with their log, which is kept', (_how, damage, problem) => {
    const db = open();
    opened.push(db);
    for (let i = 0; i < 20; i++) add(db);
    const left = killed();
    damage(left);
    const log = readFileSync(`${left}-wal`);
    expect(() => open(false, left)).toThrow(problem);
    expect(readFileSync(`${left}-wal`)).toEqual(log);
    const accepted = open(true, left);
    opened.push(accepted);
    expect(rows(accepted)).toBe(0);
    expect(readFileSync(`${left}-wal.damaged`)).toEqual(log);
  });
});

describe('files of a process that exited cleanly', () => {
  function ended(): void {
    const db = open();
    for (let i = 0; i < 100; i++) add(db);
    db.close();
  }

  test('are read again', () => {
    ended();
    const db = open();
    opened.push(db);
    expect(rows(db)).toBe(100);
  });

  test.each([
    ['its head', 20],
    ['a row', -40],
  ])('with a flipped bit in %s are refused', (_where, at) => {
    ended();
    flip(file, at);
    expect(() => open()).toThrow(/is damaged: its content changed/);
  });

  test('that were truncated are refused', () => {
    ended();
    truncateSync(file, PAGE);
    expect(() => open()).toThrow(/is damaged/);
  });

  const rest = (bytes: number) => () => truncateSync(file, bytes);
  const overwrite = (page: number, from: number) => () => {
    const bytes = readFileSync(file);
    bytes.fill(0, (page - 1) * PAGE + from, page * PAGE);
    writeFileSync(file, bytes);
  };
  test.each([
    ['nothing', rest(0)],
    ['a part of the head', rest(50)],
    ['a part of the first page', rest(2_000)],
    ['the first page', rest(PAGE)],
    ['two pages', rest(2 * PAGE)],
    ['the head of the first page', overwrite(1, 100)],
    ['all but the second page', overwrite(2, 0)],
    ['all but the third page', overwrite(3, 0)],
    ['other content', () => writeFileSync(file, 'no database')],
  ])('of which %s is left are refused, and put aside if the damage is accepted', (_what, damage) => {
    ended();
    damage();
    const left = readFileSync(file);
    expect(() => open()).toThrow(/is damaged/);
    expect(readFileSync(file)).toEqual(left);
    const db = open(true);
    opened.push(db);
    add(db);
    expect(rows(db)).toBe(1);
    expect(readFileSync(`${file}.damaged`)).toEqual(left);
  });

  test('with an unreadable commit count are refused, and used if the damage is accepted', () => {
    ended();
    flip(`${file}-commits`, 3);
    expect(() => open()).toThrow(/which records the number of commits, cannot be read/);
    const db = open(true);
    opened.push(db);
    expect(rows(db)).toBe(100);
  });

  test('of a version without a commit count are accepted', () => {
    ended();
    rmSync(`${file}-commits`);
    const db = open();
    opened.push(db);
    expect(rows(db)).toBe(100);
  });
});
