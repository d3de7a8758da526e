import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { cliLoop, curlLoop } from '../../../packages/console/src/pages/runs/bulk/loop-text.ts';

const REASON = `it's "odd"; $(touch /tmp/never) \`x\` \\ *`;
const LOOP = { mode: 'cancel', ids: ['run_a', 'run_b'], reason: REASON } as const;

/** Calls of the shell, one word per line, each call ended by its own line. */
function called(script: string): string[][] {
  const record = (name: string) => `${name}() { printf '%s\\0' "$@"; printf '\\1'; }`;
  const { stdout, stderr } = spawnSync('sh', ['-c', `${record('npm')}\n${record('curl')}\n${script}`], {
    encoding: 'utf8',
    env: { CAIRN_API_KEY: 'key' },
  });
  expect(stderr).toBe('');
  return stdout
    .split('\x01')
    .slice(0, -1)
    .map((call) => call.split('\0').slice(0, -1));
}

test('the loop of the command line does to each run what the dialog does, whatever the reason', () => {
  expect(called(cliLoop(LOOP))).toEqual(
    LOOP.ids.map((id) => ['run', 'cairn', '--', 'runs', 'cancel', id, '--reason', REASON]),
  );
  expect(called(cliLoop({ mode: 'resume', ids: ['run_a'] }))).toEqual([
    ['run', 'cairn', '--', 'runs', 'resume', 'run_a'],
  ]);
});

test('the loop of curl names each run in the address and in the key', () => {
  expect(called(curlLoop(LOOP, 'http://127.0.0.1:1', 'batch'))).toEqual(
    LOOP.ids.map((id) => [
      '-s',
      `http://127.0.0.1:1/v1/runs/${id}/cancel`,
      '-H',
      'Authorization: Bearer key',
      '-H',
      `Idempotency-Key: batch-${id}`,
      '-H',
      'Content-Type: application/json',
      '-d',
      JSON.stringify({ reason: REASON }),
    ]),
  );
});
