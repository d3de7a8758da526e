import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isAlive } from '../../support/processes.ts';

const root = join(import.meta.dirname, '../../..');

test('npm start --silent prints only the ready line, and SIGTERM to npm ends every process with exit code 0', async () => {
  const npm = spawn('npm', ['start', '--silent', '--', '--json', '--data', 'memory'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exit = once(npm, 'exit');
  let output = '';
  const line = await new Promise<string>((resolve, reject) => {
    npm.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('\n')) resolve(output);
    });
    exit.then(([code]) => reject(new Error(`npm start ended with ${code}`)), reject);
  });
  const { pids } = JSON.parse(line) as { pids: { cloud: number; workers: number[] } };
  npm.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  expect([pids.cloud, ...pids.workers].filter(isAlive)).toEqual([]);
  expect(output.trim().split('\n')).toHaveLength(1);
});
