/** Lock of `cairn init`: processes that interleave at each file operation, and operations that fail. */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, jest, test } from '@jest/globals';

type Operation = (...args: unknown[]) => unknown;

/** Called before each file operation of the lock. */
let onOperation: (name: string, args: readonly unknown[]) => void = () => {};
const { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = fs;
const hooked = Object.fromEntries(
  Object.entries({ linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync }).map(
    ([name, operation]) => [
      name,
      (...args: unknown[]) => {
        onOperation(name, args);
        return (operation as Operation)(...args);
      },
    ],
  ),
);
jest.unstable_mockModule('node:fs', () => ({ ...fs, ...hooked }));
const { alone, lockFileOf } = await import('../../../packages/cli/src/init/lock.ts');

const root = fs.mkdtempSync(join(tmpdir(), 'cairn-lock-'));
const file = lockFileOf(root);
/** Lock files of the removal of an old lock, of that lock, and of the next. */
const REMOVALS = [1, 2, 3].map((times) => file + '.removal'.repeat(times));
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  for (const one of [file, ...REMOVALS]) rmSync(one, { force: true });
});
afterEach(() => {
  onOperation = () => {};
});

const LONG_AGO = new Date(1_000);
/** Larger than any process id. */
const NO_PID = 2 ** 31 - 1;

const refused = (code: string) => ({ status: 'rejected', reason: { code } });
const attempt = async (work = async () => 'done') => (await Promise.allSettled([alone(root, work)]))[0];

/** Maximum of file operations of a process that takes over and of one that is refused meanwhile. */
const OPERATIONS = 40;
/** With several old files, one of this many pairs of operations is tried. */
const SAMPLED = 3;
const places = Array.from({ length: OPERATIONS }, (_, place) => place);

/**
 * Starts a process at each of the operations, counted over all processes. @returns number of processes that worked at the same
 * time
 */
async function workingAtOnce(starts: readonly number[]): Promise<number> {
  const { promise: end, resolve } = Promise.withResolvers<string>();
  const begun: Promise<unknown>[] = [];
  let working = 0;
  let operations = 0;
  const begin = () =>
    begun.push(
      attempt(() => {
        working += 1;
        return end;
      }),
    );
  onOperation = () => {
    const at = operations++;
    if (starts.includes(at)) begin();
  };
  begin();
  onOperation = () => {};
  resolve('done');
  await Promise.all(begun);
  return working;
}

test.each([
  ['a left file', [file]],
  ['the lock and removal lock of a killed process', [file, REMOVALS[0]]],
  ['only the removal lock of a killed process', [REMOVALS[0]]],
  ['the locks of two killed processes', [file, REMOVALS[0], REMOVALS[1]]],
])('one of three interleaved processes works if they find %s', async (_, left) => {
  for (const second of places)
    for (const third of places.slice(second + 1)) {
      if (left.length > 1 && (second + third) % SAMPLED !== 0) continue;
      for (const one of left) writeFileSync(one as string, `${NO_PID}`);
      expect([second, third, await workingAtOnce([second, third])]).toEqual([second, third, 1]);
      // An old removal lock may remain, because without an old lock no process looks at it.
      expect(fs.existsSync(file)).toBe(false);
    }
});

test('a process killed at any operation, once or twice in a row, does not block the next', async () => {
  const killed = new Error('killed');
  /** Starts a process that stops at that operation. */
  const killedAt = async (place: number) => {
    let operations = 0;
    onOperation = () => {
      if (operations++ >= place) throw killed;
    };
    await attempt();
    onOperation = () => {};
    // Replaces its process id by an unused one.
    for (const one of [file, ...REMOVALS]) if (fs.existsSync(one)) writeFileSync(one, `${NO_PID}`);
  };
  for (const first of places.slice(0, 20))
    for (const second of places.slice(0, 20)) {
      writeFileSync(file, `${NO_PID}`);
      await killedAt(first);
      await killedAt(second);
      expect([first, second, await attempt()]).toMatchObject([first, second, { value: 'done' }]);
      for (const one of [file, ...REMOVALS]) rmSync(one, { force: true });
    }
});

test('a full disk leaves no file, so that the next process works', async () => {
  onOperation = (name, [path]) => {
    if (name !== 'writeFileSync') return;
    writeFileSync(path as string, '');
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  expect(await attempt()).toMatchObject(refused('WRITE_FAILED'));
  onOperation = () => {};
  expect(await attempt()).toMatchObject({ value: 'done' });
});

test.each([
  ['empty', '', new Date()],
  ['of a process that has died', `${NO_PID}`, new Date()],
  ['from before the last boot, although its process id is in use', `${process.pid}`, LONG_AGO],
])('a lock is ignored if it is %s', async (_, content, at) => {
  writeFileSync(file, content);
  fs.utimesSync(file, at, at);
  expect(await attempt()).toMatchObject({ value: 'done' });
});

test('the lock of a live process blocks others, and is named', async () => {
  writeFileSync(file, `${process.pid}`);
  const end = await attempt();
  expect(end).toMatchObject(refused('UNDER_WAY'));
  expect(end).toMatchObject({ reason: { help: expect.stringContaining(`delete ${file}.`) } });
});

test('a lock is ignored if its process id belongs to another user', async () => {
  const denied = Object.assign(new Error('EPERM'), { code: 'EPERM' });
  const kill = jest.spyOn(process, 'kill').mockImplementation(() => {
    throw denied;
  });
  writeFileSync(file, `${NO_PID}`);
  expect(await attempt()).toMatchObject({ value: 'done' });
  writeFileSync(file, `${NO_PID}`);
  const getuid = jest.spyOn(process, 'getuid').mockReturnValue(NO_PID);
  expect(await attempt()).toMatchObject(refused('UNDER_WAY'));
  kill.mockRestore();
  getuid.mockRestore();
});

test('an old lock that only its owner may remove is reported with advice', async () => {
  writeFileSync(file, `${NO_PID}`);
  onOperation = (name, [path]) => {
    if ((name === 'rmSync' || name === 'renameSync') && path === file)
      throw Object.assign(new Error(`EPERM: operation not permitted`), { code: 'EPERM' });
  };
  const end = await attempt();
  expect(end).toMatchObject(refused('WRITE_FAILED'));
  expect(end).toMatchObject({ reason: { help: expect.stringMatching(/^Delete .+\.lock, /) } });
});
