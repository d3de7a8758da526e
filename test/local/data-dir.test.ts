import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openDevValues } from '../../packages/local/src/data-dir/dev-values.ts';
import {
  DataDirBusyError,
  DataDirUnusableError,
  lockDataDir,
} from '../../packages/local/src/data-dir/lock.ts';

import { StorageFullError, storageError } from '../../packages/local-kit/src/sqlite/storage-full.ts';

import { movableClock } from '../../packages/local-kit/src/time/clock.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'cairn-data-'));
function counter() {
  let made = 0;
  return () => `fresh-${++made}`;
}

describe('development values', () => {
  test('are the same at each start', () => {
    const file = join(folder(), 'dev.json');
    const first = openDevValues(file, counter());
    const made = [first.apiSecret, first.secret('A'), first.secret('B')];
    expect(new Set(made).size).toBe(3);
    first.rememberFunctionsPort(1001);
    first.rememberFunctionsPort(1002);
    first.rememberFunctionsPort(1001);
    expect(first.clockOffsetMs).toBe(0);
    first.rememberClock(3_600_000);

    const second = openDevValues(file, () => 'never asked for');
    expect([second.apiSecret, second.secret('A'), second.secret('B')]).toEqual(made);
    expect(second.functionsPorts).toEqual([1002, 1001]);
    expect(second.clockOffsetMs).toBe(3_600_000);
  });

  test('are readable by their owner only', () => {
    const file = join(folder(), 'dev.json');
    openDevValues(file, counter()).secret('A');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('are not stored without a file', () => {
    const values = openDevValues(undefined, counter());
    expect(values.secret('A')).toBe(values.secret('A'));
    expect(openDevValues(undefined, () => 'other').apiSecret).toBe('other');
  });

  test('a full disk keeps the old values, refuses changes, and accepts them once there is room', () => {
    const at = folder();
    const file = join(at, 'dev.json');
    let isFull = false;
    const values = openDevValues(file, counter(), {
      write(name, text) {
        // A part is written before the disk is full.
        writeFileSync(name, isFull ? text.slice(0, 10) : text);
        if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      },
      syncFolder: () => {},
    });
    const clock = movableClock(() => 1_000);
    clock.onAdvance((offsetMs) => values.rememberClock(offsetMs));
    clock.advance(500);
    const before = readFileSync(file, 'utf8');
    isFull = true;
    expect(() => clock.advance(60_000)).toThrow(StorageFullError);
    expect(() => values.rememberFunctionsPort(1001)).toThrow(StorageFullError);
    expect(() => values.secret('A')).toThrow(StorageFullError);
    expect([clock.now(), values.clockOffsetMs, values.functionsPorts]).toEqual([1_500, 500, []]);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(readdirSync(at)).toEqual(['dev.json']);
    isFull = false;
    clock.advance(60_000);
    values.rememberFunctionsPort(1001);
    const again = openDevValues(file, counter());
    expect([again.clockOffsetMs, again.functionsPorts]).toEqual([60_500, [1001]]);
  });

  test.each([
    ['other JSON', '{"mine": true}'],
    ['null', 'null'],
    ['half of its text', '{"apiSecret": "a'],
    ['nothing, as after a power cut', ''],
  ])('a file that holds %s is refused with what to do, not overwritten', (_what, text) => {
    const file = join(folder(), 'dev.json');
    writeFileSync(file, text);
    expect(() => openDevValues(file, counter())).toThrow(
      `${file} is damaged, or not of the local cloud: its member 'apiSecret'`,
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each([
    ['apiSecret', { apiSecret: '' }],
    ['secrets', { secrets: null }],
    ['secrets', { secrets: ['a'] }],
    ['secrets', { secrets: { A: 1 } }],
    ['functionsPorts', { functionsPorts: 'none' }],
    ['functionsPorts', { functionsPorts: { 0: 5001 } }],
    ['functionsPorts', { functionsPorts: [0] }],
    ['clockOffsetMs', { clockOffsetMs: '0' }],
    ['clockOffsetMs', { clockOffsetMs: -1 }],
  ])('a file in which %s is %j is refused with the member and what to do', (member, changes) => {
    const file = join(folder(), 'dev.json');
    const text = JSON.stringify({ apiSecret: 'a', secrets: {}, ...changes });
    writeFileSync(file, text);
    const open = () => openDevValues(file, counter());
    expect(open).toThrow(`${file} is damaged, or not of the local cloud: its member '${member}'`);
    expect(open).toThrow(/ Choose another directory with --data, or delete the file/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('of an earlier version are used, and members of a later one are kept', () => {
    const file = join(folder(), 'dev.json');
    writeFileSync(file, JSON.stringify({ apiSecret: 'a', secrets: { A: 'b' }, later: [1] }));
    const values = openDevValues(file, counter());
    expect([values.apiSecret, values.secret('A'), values.functionsPorts]).toEqual(['a', 'b', []]);
    values.rememberClock(5);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ later: [1], clockOffsetMs: 5 });
  });

  test('a value is returned once the file and its name are on the disk', () => {
    const at = folder();
    const file = join(at, 'dev.json');
    const calls: string[] = [];
    const values = openDevValues(file, counter(), {
      write(name, text) {
        calls.push(`write ${basename(name)}`);
        writeFileSync(name, text);
      },
      syncFolder: (synced) => calls.push(`sync ${relative(at, synced)} ${readdirSync(synced).join()}`),
    });
    calls.length = 0;
    values.secret('A');
    expect(calls).toEqual(['write dev.json.new', 'sync  dev.json']);
  });
});

describe('the lock of a data directory', () => {
  test('has one holder, which it names, and is free once released', () => {
    const dir = folder();
    const release = lockDataDir(dir, 4711);
    expect(() => lockDataDir(dir, 4712)).toThrow(DataDirBusyError);
    expect(() => lockDataDir(dir, 4712)).toThrow(/\(pid 4711\)/);
    release();
    lockDataDir(dir, 4712)();
  });

  test.each(['', 'below'])('at a file, or below one (%s), is refused with what to do', (below) => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    const dir = join(file, below);
    expect(() => lockDataDir(dir, 4711)).toThrow(DataDirUnusableError);
    expect(() => lockDataDir(dir, 4711)).toThrow(`${dir} cannot hold the data (`);
    expect(() => lockDataDir(dir, 4711)).toThrow(/; choose a writable directory with --data$/);
  });

  test('is released if its file cannot be written', () => {
    const dir = folder();
    mkdirSync(join(dir, 'cloud.pid'));
    expect(() => lockDataDir(dir, 4711)).toThrow(DataDirUnusableError);
    rmdirSync(join(dir, 'cloud.pid'));
    lockDataDir(dir, 4711)();
  });

  test('of a dead process is taken over, whatever its file contains', () => {
    const dir = folder();
    lockDataDir(dir, process.pid)();
    expect(readFileSync(join(dir, 'cloud.pid'), 'utf8')).toBe(`${process.pid}\n`);
    lockDataDir(dir, 4713)();
    expect(readFileSync(join(dir, 'cloud.pid'), 'utf8')).toBe('4713\n');
  });
});

test.each([
  { errcode: 8 },
  { errcode: 10 },
  { errcode: 13 },
  { errcode: 14 },
  { errcode: 778 },
  { code: 'ENOSPC' },
  { code: 'EDQUOT' },
  { code: 'EIO' },
  { code: 'EROFS' },
])('%j is an error of the disk', (fault) => {
  expect(storageError(Object.assign(new Error('no'), fault))).toBeInstanceOf(StorageFullError);
});

test.each([{}, { errcode: 5 }, { errcode: 19 }, { code: 'ENOENT' }])('%j is not', (fault) => {
  const error = Object.assign(new Error('no'), fault);
  expect(storageError(error)).toBe(error);
});
