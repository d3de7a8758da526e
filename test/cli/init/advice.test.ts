/** Advice of `cairn init` about settings that include its new folder by mistake. */
import { afterEach, expect, test } from '@jest/globals';
import { type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});

async function adviceIn(files: Readonly<Record<string, string>>, ...words: string[]): Promise<string[]> {
  const project = temporaryProject(withPackage(files));
  opened.push(project);
  const { out } = await project.init(['--yes', '--json', ...words]);
  return JSON.parse(out).advice;
}

test.each([
  ['{}', 1],
  ['{ /* all */ "compilerOptions": {}, }', 1],
  ['{"include": ["**/*.ts"]}', 1],
  ['{"include": ["./**/*"], "exclude": ["node_modules"]}', 1],
  ['{"include": ["."]}', 1],
  ['{"include": ["./"]}', 1],
  ['{"include": ["*.ts"]}', 0],
  ['{"include": ["src", "web/**/*"]}', 0],
  ['{"files": ["a.ts"]}', 0],
  ['{"exclude": ["./cairn/"]}', 0],
  ['{"exclude": ["cairn/**/*"]}', 0],
  ['[', 0],
])('a tsconfig.json %s of the project gives %d pieces of advice', async (tsconfig, count) => {
  const advice = await adviceIn({ 'firebase.json': '{}', 'tsconfig.json': tsconfig }, '--language', 'ts');
  expect(advice).toEqual(Array(count).fill(expect.stringContaining('add "cairn" to its "exclude"')));
});

const pnpm = (text: string) => ({ 'pnpm-workspace.yaml': text });
const npm = (workspaces: unknown) => ({ 'package.json': JSON.stringify({ workspaces }) });

test.each<[Readonly<Record<string, string>>, number]>([
  [npm(['*']), 1],
  [npm({ packages: ['./*/'] }), 1],
  [npm(['**']), 1],
  [npm(['*', '!cairn']), 0],
  [npm(['packages/*', 'functions']), 0],
  [npm({ nohoist: ['*'] }), 0],
  [npm(7), 0],
  [pnpm("packages:\n  # all\n  - '*'\n"), 1],
  [pnpm('packages:\r\n- "*" # all\r\nstrictDepBuilds: false\r\n'), 1],
  [pnpm("packages: ['apps/*', '*']\n"), 1],
  [pnpm('packages:\n  - "apps/*"\n  - "!cairn"\n  - "*"\n'), 0],
  [pnpm("packages:\n  - 'apps/*'\nonlyBuiltDependencies:\n  - '*'\n"), 0],
  [pnpm("catalog:\n  '*': 1\n"), 0],
  // pnpm reads only its own file.
  [{ ...npm(['*']), ...pnpm('packages: [apps/*]') }, 0],
])('workspaces %j of the project give %d pieces of advice', async (files, count) => {
  const advice = await adviceIn({ 'firebase.json': '{}', ...files });
  expect(advice).toEqual(
    Array(count).fill(expect.stringMatching(/^The workspaces of .*add "!cairn" to them/)),
  );
});

test.each<[string, Readonly<Record<string, string>>, string[]]>([
  ['npm', npm(['apps/*', 'apps/shop/*']), ['../../package.json']],
  ['pnpm', pnpm("packages: ['apps/**']\n"), ['../../pnpm-workspace.yaml']],
  ['Yarn, which has only the project', npm(['apps/*']), []],
])('a workspace of %s above the project gives advice about the folder in it', async (_, above, files) => {
  const project = temporaryProject(withPackage({ 'apps/shop/firebase.json': '{}', ...above }));
  opened.push(project);
  const { out } = await project.init(['--yes', '--json', '--no-install'], { cwd: 'apps/shop' });
  expect(JSON.parse(out).advice).toEqual(
    files.map((file) => expect.stringMatching(`^The workspaces of ${file} .*add "!apps/shop/cairn" to them`)),
  );
});

test.each<[string[] | undefined, RegExp[]]>([
  [undefined, [/'default'.*to \["node_modules","\.git","cairn","\.cairn"\]/]],
  [['node_modules'], [/'default'.*add "cairn" and "\.cairn" to its "ignore"/]],
  [['cairn'], [/add "cairn" and "\.cairn"/]],
  [['.cairn/**', 'cairn/'], []],
])(
  'a codebase that is the whole project and ignores %j gets advice to ignore the folder',
  async (ignore, said) => {
    for (const source of ['.', './']) {
      const advice = await adviceIn({ 'firebase.json': JSON.stringify({ functions: { source, ignore } }) });
      expect(advice).toEqual(said.map((one) => expect.stringMatching(one)));
    }
  },
);

const BOTH = /^The site is .*add "cairn\/\*\*" and "\.cairn\/\*\*" to its "ignore"/;
const DEFAULT_IGNORE = ['firebase.json', '**/.*', '**/node_modules/**'];

test.each<[string, unknown, RegExp[]]>([
  ['the usual files are ignored', { public: '.', ignore: DEFAULT_IGNORE }, [BOTH]],
  ['nothing is ignored', { public: './' }, [BOTH]],
  ['only the folders are named', { public: '.', ignore: [...DEFAULT_IGNORE, 'cairn', '.cairn'] }, [BOTH]],
  [
    'its sources are ignored',
    { public: '.', ignore: ['./cairn/**'] },
    [/add "\.cairn\/\*\*" to its "ignore"/],
  ],
  ['all is ignored', { public: '.', ignore: ['cairn/**', '**/.*/**'] }, []],
  ['one of several is', [{ public: 'www' }, { target: 'app', public: '.' }], [/^The site 'app' is/]],
  ['it has a folder of its own', { public: 'public' }, []],
])(
  'a site that is the whole project does not publish the folder unnoticed: %s',
  async (_case, hosting, said) => {
    const advice = await adviceIn({ 'firebase.json': JSON.stringify({ hosting }) });
    expect(advice).toEqual(said.map((one) => expect.stringMatching(one)));
  },
);

test('other projects get no advice, nor does JavaScript about its types', async () => {
  const functions = '{"functions": {"source": "functions"}}';
  expect(await adviceIn({ 'firebase.json': functions, 'tsconfig.json': '{}' })).toEqual([]);
  expect(await adviceIn({ 'firebase.json': functions })).toEqual([]);
});
