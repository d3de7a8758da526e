/** Commands of the documents that take minutes to an hour, each with reduced numbers. `.ci/timed` runs the others. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { OUTSIDE_NPM } from '../../support/outside-npm.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LIMIT_MS = 480_000;

function ran(command: string, words: readonly string[]) {
  const [program = '', ...shown] = command.split(' ');
  const { status, stdout, stderr } = spawnSync(program, [...shown, '--', ...words], {
    cwd: ROOT,
    env: OUTSIDE_NPM,
    encoding: 'utf8',
    timeout: LIMIT_MS,
  });
  return { status, stdout, stderr, last: stdout.trimEnd().split('\n').at(-1) ?? '' };
}

/** The JSON of the last line. */
function answered(command: string, words: readonly string[]): unknown {
  const { status, last, stderr } = ran(command, words);
  expect([status, stderr]).toEqual([0, expect.anything()]);
  return JSON.parse(last);
}

test(
  'npm run soak passes further arguments to Jest',
  () => {
    const { status, stderr } = ran('npm run soak', ['test/core/match-index.test.ts']);
    expect([status, stderr]).toEqual([0, expect.stringContaining('PASS test/core/match-index.test.ts')]);
  },
  LIMIT_MS,
);

test(
  'npm run crowds completes the runs beside a harmful one',
  () => {
    expect(answered('npm run crowds', ['--draws', '1'])).toMatchObject({ draws: 1, problems: 0 });
  },
  LIMIT_MS,
);

test(
  'npm run bench:scan finds runs without tasks',
  () => {
    expect(answered('npm run bench:scan', ['--runs', '50'])).toMatchObject({ paused: expect.anything() });
  },
  LIMIT_MS,
);
