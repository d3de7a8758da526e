import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A process that sends two requests to itself, one after the other, and reports the responses and how it ended. */
function serveTwice(env: Record<string, string>) {
  const script = `
    const { createServer } = await import('node:http');
    const { endAfterDispatch } = await import('./packages/cairn/src/platform/instance/one-dispatch.ts');
    endAfterDispatch((name) => name.split('-').at(-1), () => { process.stdout.write('ended '); process.exit(0); });
    const server = createServer((request, response) => response.end('answered '));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = 'http://127.0.0.1:' + server.address().port;
    for (let i = 0; i < 2; i += 1) {
      const { spawn } = await import('node:child_process');
      const client = spawn(process.execPath, ['-e', "fetch('" + url + "').then(async (a) => process.stdout.write(await a.text()))"], { stdio: ['ignore', 'inherit', 'ignore'] });
      await new Promise((resolve) => client.once('exit', resolve));
    }
    process.exit(3);`;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
    { cwd: ROOT, encoding: 'utf8', env: { PATH, NODE_COMPILE_CACHE, ...env } },
  );
  return { words: stdout.trim().split(' ').sort(), status };
}

test('an instance of driveAlone ends after one answer, which its caller receives in full', () => {
  const { words, status } = serveTwice({ FUNCTION_TARGET: 'cairn.driveAlone' });
  expect(words).toEqual(['answered', 'ended']);
  expect(status).toBe(0);
});

test.each([
  ['of another function', { FUNCTION_TARGET: 'drive' }],
  ['of the emulators', { FUNCTION_TARGET: 'driveAlone', FUNCTIONS_EMULATOR: 'true' }],
  ['of the local cloud', { FUNCTION_TARGET: 'driveAlone', CAIRN_LOCAL: '1' }],
])('a process %s serves further requests', (_, env) => {
  const { words, status } = serveTwice(env);
  expect(words).toEqual(['answered', 'answered']);
  expect(status).toBe(3);
});
