import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const MAIN = join(import.meta.dirname, '../../../bench/simulate/main.ts');

async function run(words: readonly string[]) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...words]);
  const said = { out: '', complaints: '' };
  child.stdout.on('data', (chunk) => {
    said.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.complaints += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, ...said };
}

test('a simulation ends with one line of JSON', async () => {
  const { code, out, complaints } = await run(['--json', '--rate', '5', '--for', '5s', '--steps', '1']);
  expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
  expect(out.trim().split('\n')).toHaveLength(1);
  const report = JSON.parse(out) as { result: { started: number; ended: number }; ceilings: unknown[] };
  expect(report).toMatchObject({
    traffic: { steps: 1, bodyMs: 0 },
    plan: { rate: 5 },
    result: { holds: true, waiting: 0 },
    price: { total: expect.any(Number) },
  });
  expect(report.result.started).toBeGreaterThan(0);
  expect(report.ceilings.length).toBeGreaterThan(5);
});

test('invalid flags exit with 2 and are named', async () => {
  const { code, out, complaints } = await run(['--queues', '0']);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(complaints).toContain('--queues is a whole number from 1 to 400');
});
