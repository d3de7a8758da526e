/** The model of a disk that `npm run power-cut` relies on: a model that kept everything would show nothing. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Disk } from '../../../scripts/power-cut/disk.ts';
import { type Operation, operationsOf } from '../../../scripts/power-cut/trace.ts';

const FILE = '/data/file';
const NOTHING = () => false;
const ALL = () => true;
const write = (at: number, text: string): Operation => ({
  kind: 'write',
  file: FILE,
  at,
  bytes: Buffer.from(text),
});
const sync = (file: string): Operation => ({ kind: 'sync', file });

function diskAfter(...operations: Operation[]): Disk {
  const disk = new Disk();
  for (const operation of operations) disk.carryOut(operation);
  return disk;
}

const contentOf = (files: Map<string, Buffer>) => files.get(FILE)?.toString();

describe('after a power cut', () => {
  test('synced data is there, and later writes may be lost', () => {
    const disk = diskAfter(write(0, 'old'), sync(FILE), sync('/data'), write(0, 'new'));
    expect(contentOf(disk.afterCut(NOTHING))).toBe('old');
    expect(contentOf(disk.afterCut(ALL))).toBe('new');
  });

  test('a new file is there for certain once its folder was synced too', () => {
    const disk = diskAfter({ kind: 'create', file: FILE }, write(0, 'x'), sync(FILE));
    expect(disk.afterCut(NOTHING).has(FILE)).toBe(false);
    disk.carryOut(sync('/data'));
    expect(contentOf(disk.afterCut(NOTHING))).toBe('x');
  });

  test('a write of several sectors may be partial', () => {
    const disk = diskAfter(sync('/data'), write(0, 'a'.repeat(2_048)), sync(FILE), sync('/data'));
    disk.carryOut(write(0, 'b'.repeat(2_048)));
    const draws = [true, false];
    const torn = contentOf(disk.afterCut(() => draws.shift() ?? true));
    expect(torn).toBe('b'.repeat(1_024) + 'a'.repeat(1_024));
  });

  test('the disk itself is unchanged: everything is there after a sync', () => {
    const operation = fc.oneof(
      fc
        .record({ at: fc.nat(2_000), text: fc.string({ maxLength: 1_500 }) })
        .map(({ at, text }) => write(at, text)),
      fc.nat(2_000).map((size): Operation => ({ kind: 'truncate', file: FILE, size })),
      fc.constant(sync(FILE)),
    );
    fc.assert(
      fc.property(
        fc.array(operation, { minLength: 1 }),
        fc.infiniteStream(fc.boolean()),
        (operations, draws) => {
          const disk = diskAfter(...operations);
          disk.afterCut(() => draws.next().value === true);
          for (const name of [FILE, '/data']) disk.carryOut(sync(name));
          const whole = disk.afterCut(NOTHING);
          expect(contentOf(whole)).toBe(contentOf(diskAfter(...operations).afterCut(ALL)));
        },
      ),
    );
  });
});

const hex = (text: string) => [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16)}`).join('');

describe('a trace of system calls', () => {
  test('is read as operations on files of the folder', () => {
    const trace = [
      `openat(AT_FDCWD<${hex('/')}>, "${hex('/data/file')}", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = 20<${hex('/data/file')}>`,
      `openat(AT_FDCWD<${hex('/')}>, "${hex('/etc/hosts')}", O_RDONLY) = 21<${hex('/etc/hosts')}>`,
      `pwrite64(20<${hex(FILE)}>, "${hex('hello')}", 5, 4096) = 5`,
      `ftruncate(20<${hex(FILE)}>, 100) = 0`,
      `fdatasync(20<${hex(FILE)}>) = 0`,
      `unlink("${hex(FILE)}") = -1 ENOENT (No such file or directory)`,
      `unlink("${hex(FILE)}")      = 0`,
      `write(1</dev/null>, "${hex('rows 1')}", 6) = 6`,
    ].join('\n');
    expect(operationsOf(trace, '/data')).toEqual([
      { kind: 'create', file: FILE },
      write(4_096, 'hello'),
      { kind: 'truncate', file: FILE, size: 100 },
      sync(FILE),
      { kind: 'remove', file: FILE },
      { kind: 'print', text: 'rows 1' },
    ]);
  });

  test('with a call that the model does not know is refused', () => {
    expect(() => operationsOf(`write(20<${hex(FILE)}>, "${hex('x')}", 1) = 1`, '/data')).toThrow(
      /does not know this call/,
    );
  });
});
