import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, jest, test } from '@jest/globals';
import { isAlive, signalTo } from './processes.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

test.each([undefined, 0, 1, -5, Number.NaN, 2.5])(
  'process %p is refused, because a test cannot have started it',
  (pid) => {
    const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
    expect(() => signalTo(pid, 'SIGTERM')).toThrow(TypeError);
    expect(() => isAlive(pid)).toThrow(TypeError);
    expect(kill).not.toHaveBeenCalled();
  },
);

test('a process is alive until it has ended', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  expect(isAlive(child.pid)).toBe(true);
  child.stdin.end();
  await once(child, 'exit');
  expect(isAlive(child.pid)).toBe(false);
});

test('a process of another user is alive, and any other error is thrown', () => {
  const failing = (code: string) =>
    jest.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
  failing('EPERM');
  expect(isAlive(4_711)).toBe(true);
  failing('EINVAL');
  expect(() => isAlive(4_711)).toThrow('EINVAL');
});
