/** `cairn init` in one project: begun within the file operations of another, and when such an operation fails. */
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
/** Files that are there while a left one is removed: of the lock, of that file, and of the last. */
const REMOVALS = [1, 2, 3].map((times) => file + '.removal'.repeat(times));
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  for (const one of [file, ...REMOVALS]) rmSync(one, { force: true });
});
afterEach(() => {
  onOperation = () => {};
});

const LONG_AGO = new Date(1_000);
/** Larger than any system gives. */
const NO_PID = 2 ** 31 - 1;

const refused = (code: string) => ({ status: 'rejected', reason: { code } });
const attempt = async (work = async () => 'done') => (await Promise.allSettled([alone(root, work)]))[0];

/** File operations of one that takes over, and of another that is refused meanwhile, at most. */
const OPERATIONS = 40;
/** One in so many pairs of operations is tried where several files are left. */
const SAMPLED = 3;
const places = Array.from({ length: OPERATIONS }, (_, place) => place);

/** Begins one at each of the places, counted over the operations of all. @returns how many work at once */
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
  ['what one has left that was killed while it removed such a file', [file, REMOVALS[0]]],
  ['the same, where that one had removed it', [REMOVALS[0]]],
  ['what two have left that were killed so', [file, REMOVALS[0], REMOVALS[1]]],
])('of three that find %s, each within the operations of the others, one works', async (_, left) => {
  for (const second of places)
    for (const third of places.slice(second + 1)) {
      if (left.length > 1 && (second + third) % SAMPLED !== 0) continue;
      for (const one of left) writeFileSync(one as string, `${NO_PID}`);
      expect([second, third, await workingAtOnce([second, third])]).toEqual([second, third, 1]);
      // A removal is left that nobody had to pass: without the file itself the first one did not look for it.
      expect(fs.existsSync(file)).toBe(false);
    }
});

test('one that is killed at any of its operations, once or twice in a row, keeps nobody away', async () => {
  const killed = new Error('killed');
  /** Begins one that ends at that operation: what it would do afterwards is not done. */
  const killedAt = async (place: number) => {
    let operations = 0;
    onOperation = () => {
      if (operations++ >= place) throw killed;
    };
    await attempt();
    onOperation = () => {};
    // Its process id is then that of nobody.
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

test('a disk that is full leaves no file, so that the next one works', async () => {
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
  ['from before the machine started, though its process id is in use', `${process.pid}`, LONG_AGO],
])('a file counts for nothing that is %s', async (_, content, at) => {
  writeFileSync(file, content);
  fs.utimesSync(file, at, at);
  expect(await attempt()).toMatchObject({ value: 'done' });
});

test('a file of a process that is alive keeps others away, and is named', async () => {
  writeFileSync(file, `${process.pid}`);
  const end = await attempt();
  expect(end).toMatchObject(refused('UNDER_WAY'));
  expect(end).toMatchObject({ reason: { help: expect.stringContaining(`delete ${file}.`) } });
});

test('a process id that another user has counts for nothing in a file of this user', async () => {
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

test('a left file that only its owner may remove is named, with what to do', async () => {
  writeFileSync(file, `${NO_PID}`);
  onOperation = (name, [path]) => {
    if ((name === 'rmSync' || name === 'renameSync') && path === file)
      throw Object.assign(new Error(`EPERM: operation not permitted`), { code: 'EPERM' });
  };
  const end = await attempt();
  expect(end).toMatchObject(refused('WRITE_FAILED'));
  expect(end).toMatchObject({ reason: { help: expect.stringMatching(/^Delete .+\.lock, /) } });
});
