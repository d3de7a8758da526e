import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { parse } from '../../../packages/cli/src/arguments/parse.ts';
import { COMMANDS } from '../../../packages/cli/src/commands/all.ts';
import {
  bulkRequestBody,
  cliBulk,
  curlBulk,
} from '../../../packages/console/src/pages/runs/bulk/commands.ts';

const REASON = `-it's "odd"; $(touch /tmp/never) \`x\` \\ *`;
const MANY = Array.from({ length: 201 }, (_, i) => ({ id: `run_${i}` }));

/** Runs the commands in a shell. @returns the words of each call */
function called(script: string): string[][] {
  const record = (name: string) => `${name}() { printf '%s\\0' "$@"; printf '\\1'; }`;
  const { stdout, stderr } = spawnSync('sh', ['-c', `${record('npx')}\n${record('curl')}\n${script}`], {
    encoding: 'utf8',
    env: { CAIRN_API_KEY: 'key' },
  });
  expect(stderr).toBe('');
  return stdout
    .split('\x01')
    .slice(0, -1)
    .map((call) => call.split('\0').slice(0, -1));
}

function parsed(words: readonly string[]) {
  expect(words[0]).toBe('cairn');
  const read = parse(words.slice(1), COMMANDS);
  if (read.kind !== 'run') throw new Error('help');
  return { name: read.command.name, ...read.given };
}

test('the command line changes the same runs with the same verb, for any reason text', () => {
  const runs = [{ id: 'run_a' }, { id: 'run_b' }];
  const [words = []] = called(cliBulk({ mode: 'cancel', runs, batch: 'console-1', reason: REASON }));
  expect(parsed(words)).toMatchObject({
    name: 'runs bulk',
    args: { action: 'cancel' },
    options: { run: ['run_a', 'run_b'], reason: REASON, yes: true },
    key: 'console-1',
  });
});

test('an approval has a note, and names the question; a resume takes neither note nor reason', () => {
  const question = { stepId: 'agree', waitId: 'agree.1' };
  const approve = { mode: 'approve', runs: [{ id: 'run_a', question }], batch: 'b', reason: 'seen' } as const;
  expect(bulkRequestBody(approve)).toEqual({
    act: 'approve',
    batch: 'b',
    runs: [{ runId: 'run_a', ...question }],
    note: 'seen',
  });
  const [words = []] = called(cliBulk(approve));
  expect(parsed(words)).toMatchObject({ args: { action: 'approve' }, options: { note: 'seen' } });
  expect(bulkRequestBody({ ...approve, mode: 'resume' })).not.toHaveProperty('note');
  expect(parsed(called(cliBulk({ ...approve, mode: 'resume' }))[0] ?? []).options).toMatchObject({
    note: undefined,
    reason: undefined,
  });
});

test('runs beyond the limit of a request are split over several requests', () => {
  const change = { mode: 'replay', runs: MANY, batch: 'b' } as const;
  expect(called(cliBulk(change)).map((words) => words.filter((word) => word === '--run').length)).toEqual([
    100, 100, 1,
  ]);
  expect(curlBulk(change, 'http://127.0.0.1:1').match(/^curl/gm)).toHaveLength(3);
});
