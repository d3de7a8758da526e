import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** Runs the code in an instance whose framework ends it after an unhandled rejection, like Google's. */
function inInstance(script: string) {
  const whole = `
    process.on('unhandledRejection', () => process.exit(16));
    const { surviveRejections } = await import('./packages/cairn/src/platform/instance/stray-rejections.ts');
    const { platformLog } = await import('./packages/cairn/src/platform/log.ts');
    surviveRejections(platformLog);
    setImmediate(() => setImmediate(() => process.stdout.write('went on')));
    ${script}`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', whole], {
    cwd: join(import.meta.dirname, '../../..'),
    encoding: 'utf8',
  });
  return { status, stdout };
}

test('an instance survives unhandled rejections of any kind, and logs each', () => {
  const { status, stdout } = inInstance(`
    Promise.reject(new Error('forgotten'));
    Promise.reject(undefined);
    Promise.reject(Object.create(null));`);
  expect(status).toBe(0);
  expect(stdout.match(/"event":"rejection_unhandled"/g)).toHaveLength(3);
  expect(stdout).toMatch(/Error: forgotten\\n +at /);
  expect(stdout).toMatch(/went on$/);
});

test('an uncaught exception still ends an instance', () => {
  const { status, stdout } = inInstance(`setImmediate(() => { throw new Error('half done'); });`);
  expect(status).not.toBe(0);
  expect(stdout).not.toContain('went on');
});
