import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { NODE_FLAGS } from '../../packages/local/src/node-flags.ts';
import { OUTSIDE_NPM } from '../support/outside-npm.ts';

const ROOT = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** Names of other projects, which lead to the command of this one. */
const SIGNPOSTS = ['dev', 'build', 'lint'];
/** `--help` prints their row of docs/commands.md. */
const HELPED_BY_DOCS = [
  'adopt',
  'bench:console',
  'check',
  'console:build',
  'demo',
  'format',
  'newcomer',
  'pack',
  'soak',
  'types',
];
const OWN_USAGE = [
  'agent-kills',
  'bench',
  'bench:scan',
  'cairn',
  'crowds',
  'deploy',
  'emulators',
  'firestore',
  'help',
  'picture',
  'power-cut',
  'simulate',
  'start',
  'sweep',
];
/** Their flags are those of Jest, firebase-tools, Vite and npm. */
const PASSED_ON = ['test', 'test:emulators', 'test:deploy', 'firebase', 'console:dev', 'deploy:install'];

function npm(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: ROOT,
    env: OUTSIDE_NPM,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('npm run help lists every command of package.json in 80 columns', () => {
  const { status, stdout, stderr } = npm('run', '--silent', 'help');
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
  const { status, stdout, stderr } = npm('run', '--silent', name);
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

test.each(HELPED_BY_DOCS)(
  'npm run %s -- --help prints its row of the documents and does nothing else',
  (name) => {
    const { status, stdout } = spawnSync('node', ['scripts/run.mjs', name, '--help'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^npm run ${name}\n\n {2}[a-z]`));
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  },
);

test('--help of each other command is answered by its program', () => {
  const text = readFileSync(join(ROOT, 'scripts/run.mjs'), 'utf8');
  const [, listed = ''] = /HELPED_BY_DOCS = new Set\(\[(.*?)\]/s.exec(text) ?? [];
  expect([...listed.matchAll(/'(.+?)'/g)].map(([, name]) => name)).toEqual(HELPED_BY_DOCS);
  expect([...HELPED_BY_DOCS, ...OWN_USAGE, ...PASSED_ON, ...SIGNPOSTS].toSorted()).toEqual(
    Object.keys(scripts).toSorted(),
  );
});

test('a command that fails has standard output to itself with --silent', () => {
  const { status, stdout, stderr } = npm('run', '--silent', 'cairn', '--', 'runns', 'list');
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain("Did you mean 'runs list'?");
});

test('npm run bogus names the missing script and how to list the scripts', () => {
  const { status, stdout, stderr } = npm('run', 'bogus');
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain('Missing script: "bogus"');
  expect(stderr).toMatch(/To see a list of scripts, run:\nnpm error {3}npm run\n/);
});

test('npm names what a mistyped command may have meant', () => {
  const { status, stderr } = npm('run', 'sweeep');
  expect(status).toBe(1);
  expect(stderr).toContain('npm run sweep');
});

test('what a command prints ends with its own last line, behind the banner of npm', () => {
  const { status, stdout, stderr } = npm('run', 'cairn', '--', '--version');
  expect([status, stderr]).toEqual([0, '']);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8')) as {
    readonly version: string;
  };
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(version);
});

test('npm start gives Node the flags that every process of the local cloud has', () => {
  const text = readFileSync(join(ROOT, 'scripts/run.mjs'), 'utf8');
  const flags = (name: string) => [
    ...(text.match(`const ${name} = \\[([^\\]]*)`)?.[1] ?? '').matchAll(/'(.+?)'/g),
  ];
  expect([...flags('quiet'), ...flags('cloud')].map(([, flag]) => flag)).toEqual(NODE_FLAGS);
  const starts = [...text.matchAll(/\[\.\.\.(\w+), join\(root, 'packages\/local\/src\/main\.ts'\)/g)];
  expect(starts.map(([, given]) => given)).toEqual(['cloud', 'cloud']);
});
