import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** Names of other projects, which lead to the command of this one. */
const SIGNPOSTS = ['dev', 'build', 'lint'];

/** Without the settings of the npm that runs this test. */
function npm(...args: string[]) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('npm run help lists every command of package.json in 80 columns', () => {
  const { status, stdout, stderr } = npm('run', 'help');
  expect([status, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  const listed = lines.flatMap((line) => /^ {2}npm (?:run )?(\S+) {2,}\S/.exec(line)?.[1] ?? []);
  expect(listed.toSorted()).toEqual(
    Object.keys(scripts)
      .filter((name) => !SIGNPOSTS.includes(name))
      .toSorted(),
  );
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test.each(SIGNPOSTS)('npm run %s names the command that does it here', (name) => {
  const { status, stdout, stderr } = npm('run', name);
  expect([status, stdout]).toEqual([2, '']);
  const [, instead = ''] =
    /^There is no command '\w+' here; `npm (?:run )?([\w:-]+)` does that\./.exec(stderr) ?? [];
  expect(Object.keys(scripts)).toContain(instead);
});

test.each(['bogus', 'constructor'])(
  'an unknown command %s of the scripts is answered with the list',
  (name) => {
    const { status, stdout, stderr } = spawnSync('node', ['scripts/run.mjs', name], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`There is no command '${name}'.\n\nCommands`);
  },
);

test('a command that fails has standard output to itself', () => {
  const { status, stdout, stderr } = npm('run', 'cairn', '--', 'runns', 'list');
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain("Did you mean 'runs list'?");
});

test('npm names what a mistyped command may have meant, at the level that the documents give', () => {
  const { status, stderr } = npm('run', '--loglevel=error', 'sweeep');
  expect(status).toBe(1);
  expect(stderr).toContain('npm run sweep');
});
