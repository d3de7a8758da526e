import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { runInContext } from 'node:vm';
import { afterEach, expect, test } from '@jest/globals';

interface Environment {
  getVmContext(): object;
  teardown(): Promise<void>;
}

const TestEnvironment = createRequire(import.meta.url)('../../scripts/jest/environment.cjs') as new (of: {
  projectConfig: object;
}) => Environment;

/** An environment as the next test file of a worker gets it. */
const next = () => new TestEnvironment({ projectConfig: { fakeTimers: {} } });

let environment = next();
afterEach(async () => {
  await environment.teardown();
  environment = next();
});

test('a test file has the globals of Node', () => {
  const code = '[typeof fetch, typeof Buffer, typeof setTimeout, typeof structuredClone, process.version]';
  expect(runInContext(`${code}.join()`, environment.getVmContext())).toBe(
    `function,function,function,function,${process.version}`,
  );
});

test.each([
  ['a global of its own', 'globalThis.left = 1', 'typeof left', 'undefined'],
  ['a global of Node', 'globalThis.fetch = 1', 'typeof fetch', 'function'],
  ['a global of the language', 'globalThis.Map = 1', 'typeof Map', 'function'],
  ['a global that it deletes', 'delete globalThis.Set', 'typeof Set', 'function'],
  ['a variable of the environment', 'process.env.LEFT = 1', 'typeof process.env.LEFT', 'undefined'],
  ['a variable that it deletes', 'delete process.env.PATH', 'typeof process.env.PATH', 'string'],
  ['the end of the process', 'process.exit = 1', 'typeof process.exit', 'function'],
  ['a listener', "process.on('left', () => {})", "process.listenerCount('left')", 0],
  ['how stacks are written', 'Error.prepareStackTrace = () => 1', 'typeof new Error().stack', 'string'],
  ['how deep stacks are', 'Error.stackTraceLimit = 1', 'Error.stackTraceLimit', 100],
])('a test file changes nothing for the next one: %s', async (_, change, question, answer) => {
  runInContext(change, environment.getVmContext());
  expect(runInContext(question, environment.getVmContext())).not.toBe(answer);
  await environment.teardown();
  environment = next();
  expect(runInContext(question, environment.getVmContext())).toBe(answer);
});

test('the temporary files of a test file are deleted when it ends', async () => {
  const folder: string = runInContext('process.env.TMPDIR', environment.getVmContext());
  expect(existsSync(folder)).toBe(true);
  await environment.teardown();
  expect(existsSync(folder)).toBe(false);
  environment = next();
  expect(runInContext('process.env.TMPDIR', environment.getVmContext())).not.toBe(folder);
});
