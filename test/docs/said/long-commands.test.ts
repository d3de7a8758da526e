/** Commands of the documents that take from minutes to an hour, each with few of what it usually has thousands of. `.ci/timed` runs the others. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const LIMIT_MS = 180_000;

/** Settings of the npm that runs this test would be those of the command too. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
const folder = mkdtempSync(join(tmpdir(), 'cairn-commands-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function ran(command: string, words: readonly string[]) {
  const [program = '', ...shown] = command.split(' ');
  const { status, stdout, stderr } = spawnSync(program, [...shown, '--', ...words], {
    cwd: ROOT,
    env,
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
  'npm run picture draws a run whose worker was killed',
  () => {
    const file = join(folder, 'picture.svg');
    expect(ran('npm run picture', ['--out', file])).toMatchObject({ status: 0 });
    expect(readFileSync(file, 'utf8')).toContain('A run whose worker is killed in the middle of a step');
  },
  LIMIT_MS,
);

test(
  'npm run soak passes its further words to Jest',
  () => {
    const { status, stderr } = ran('npm run soak', ['test/core/match-index.test.ts']);
    expect([status, stderr]).toEqual([0, expect.stringContaining('PASS test/core/match-index.test.ts')]);
  },
  LIMIT_MS,
);

test(
  'npm run crowds completes the runs beside one that does harm',
  () => {
    expect(answered('npm run crowds', ['--draws', '1'])).toMatchObject({ draws: 1, problems: 0 });
  },
  LIMIT_MS,
);

test(
  'npm run power-cut finds every acknowledged commit with --sync, or says that it needs strace',
  () => {
    const { status, last, stderr } = ran('npm run power-cut', ['--cuts', '12']);
    if (spawnSync('strace', ['--version']).error) {
      expect([status, stderr]).toEqual([1, expect.stringContaining('apt-get install strace')]);
      return;
    }
    expect(status).toBe(0);
    expect(JSON.parse(last)).toMatchObject({ ok: true, sync: { lost: 0, refused: 0 } });
  },
  LIMIT_MS,
);

test(
  'npm run bench:scan finds runs without tasks',
  () => {
    expect(answered('npm run bench:scan', ['--runs', '50'])).toMatchObject({ held: expect.anything() });
  },
  LIMIT_MS,
);
