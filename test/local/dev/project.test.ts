import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { valuesOf } from '../../../packages/local/src/dev/env-files.ts';
import {
  codebasesOf,
  effectOf,
  type ProjectFiles,
  projectFolder,
  unservedIn,
} from '../../../packages/local/src/dev/project.ts';
import { codebase, filesOf, TSCONFIG } from './codebase.ts';

const RUNNABLE = { compilerOptions: { ...TSCONFIG.compilerOptions, rewriteRelativeImportExtensions: true } };

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    const { code, message, help } = error as { code?: string; message: string; help?: string };
    return `${code}: ${message} ${help}`;
  }
  return 'nothing was refused';
}

test('the project is the folder with firebase.json, at or above the current one', () => {
  const files = filesOf({ '/shop/firebase.json': {} });
  expect(projectFolder('/shop/functions/src', files)).toBe('/shop');
  expect(codeOf(() => projectFolder('/home', files))).toMatch(/^PROJECT_NOT_FOUND: .*\/home/);
});

describe('codebases', () => {
  const manifest = { main: 'index.js' };
  const files = (firebaseJson: unknown) =>
    filesOf({
      '/shop/firebase.json': firebaseJson,
      '/shop/functions/package.json': manifest,
      '/shop/functions/index.js': '',
      '/shop/cairn/package.json': { main: 'src/index.ts', dependencies: { cairn: '0.2.0' } },
      '/shop/cairn/src/index.ts': '',
    });
  const TWO = { functions: [{ source: 'functions' }, { source: 'cairn', codebase: 'cairn' }] };

  test('are those of firebase.json, which may have comments; those that depend on Cairn get workers for step bodies', () => {
    const text = `\uFEFF{ // ours\n "functions": [{ "source": "functions" }, { "source": "cairn", "codebase": "cairn" },], }`;
    expect(codebasesOf('/shop', [], files(text))).toMatchObject([
      { name: 'default', folder: '/shop/functions', module: '/shop/functions/index.js', hasCairn: false },
      { name: 'cairn', folder: '/shop/cairn', module: '/shop/cairn/src/index.ts', hasCairn: true },
    ]);
  });

  test('can be chosen', () => {
    expect(codebasesOf('/shop', ['cairn'], files(TWO)).map(({ name }) => name)).toEqual(['cairn']);
    expect(codeOf(() => codebasesOf('/shop', ['x'], files(TWO)))).toBe(
      "CODEBASE_UNKNOWN: firebase.json has no codebase 'x' that is served here It has: default, cairn.",
    );
  });

  test('without functions in firebase.json are refused, as a deployment has none', () => {
    expect(codeOf(() => codebasesOf('/shop', [], files({})))).toMatch(/^NO_FUNCTIONS/);
  });

  test.each([
    ['a runtime that is not Node', { source: 'functions', codebase: 'b', runtime: 'python312' }, /python312/],
    ['a Python project', { source: 'py', codebase: 'b' }, /Python/],
    ['a Dart project', { source: 'dart', codebase: 'b' }, /Dart/],
    ['a source elsewhere', { remoteSource: { repository: 'a/b', ref: 'c' }, codebase: 'b' }, /another repo/],
  ])('%s is reported, and the others are served', (_, entry, why) => {
    const some = files({ functions: [entry, TWO.functions[1]] });
    const all: ProjectFiles = {
      exists: (path) =>
        ['/shop/py/requirements.txt', '/shop/dart/pubspec.yaml'].includes(path) || some.exists(path),
      read: (path) => some.read(path),
      real: (path) => path,
    };
    expect(codebasesOf('/shop', [], all).map(({ name }) => name)).toEqual(['cairn']);
    expect(unservedIn('/shop', all)).toEqual([{ name: 'b', why: expect.stringMatching(why) }]);
    const alone = { ...all, read: () => JSON.stringify({ functions: entry }) };
    expect(codeOf(() => codebasesOf('/shop', [], alone))).toMatch(/^NO_FUNCTIONS: .*\(b\)/);
  });

  test('a firebase.json that is not JSON is reported with its line', () => {
    expect(codeOf(() => codebasesOf('/shop', [], files('{\n"functions": [}')))).toMatch(
      /^FIREBASE_JSON_INVALID: \/shop\/firebase.json .*line 2/,
    );
  });
});

describe('what is served and built of a codebase', () => {
  test.each([
    ['JavaScript', { 'package.json': {}, 'index.js': '' }, 'index.js', undefined, false],
    [
      'TypeScript named as main',
      { 'package.json': { main: './src/index.ts' }, 'src/index.ts': '', 'tsconfig.json': {} },
      'src/index.ts',
      undefined,
      true,
    ],
    [
      'sources that Node runs as they are, although a deployment builds them',
      {
        'package.json': { main: 'lib/index.js', scripts: { build: 'tsc' } },
        'src/index.ts': '',
        'tsconfig.json': RUNNABLE,
      },
      'src/index.ts',
      undefined,
      true,
    ],
    [
      'what its own watching build writes',
      {
        'package.json': { main: 'lib/index.js', scripts: { build: 'tsc', 'build:watch': 'tsc -w' } },
        'src/index.ts': '',
        'tsconfig.json': TSCONFIG,
      },
      'lib/index.js',
      { output: 'lib', script: 'build:watch' },
      false,
    ],
    [
      'what its own build writes',
      {
        'package.json': { main: 'lib/index.js', scripts: { build: 'tsc' } },
        'src/index.ts': '',
        'tsconfig.json': '{/* */}',
      },
      'lib/index.js',
      { output: 'lib', script: 'build' },
      true,
    ],
  ])('%s', (_, content, module, build, isChecked) => {
    expect(codebase(content)).toMatchObject({ module: `/shop/functions/${module}`, build, isChecked });
  });

  test('main is resolved as Node does', () => {
    for (const [main, file] of [
      ['./index', 'index.js'],
      ['src', 'src/index.js'],
      ['src/', 'src/index.js'],
      ['lib/a.b', 'lib/a.b.js'],
      ['main.cjs', 'main.cjs'],
    ] as const)
      expect(codebase({ 'package.json': { main }, [file]: '' }).module).toBe(`/shop/functions/${file}`);
  });

  test('a module that a compiler or bundler writes is built, before it exists, however its place is named', () => {
    const built = fc.record({
      output: fc.constantFrom('lib', 'dist', 'build', 'out'),
      path: fc.constantFrom('index', 'functions/src/index', 'main.bundle'),
      spelled: fc.constantFrom(
        (one: string) => `${one}.js`,
        (one: string) => `./${one}.js`,
        (one: string) => one,
      ),
      script: fc.constantFrom('build', 'build:watch'),
      isThere: fc.boolean(),
      config: fc.constantFrom(
        (_: string) => ({ 'tsconfig.json': { compilerOptions: { noEmit: true } } }),
        (outDir: string) => ({ 'tsconfig.json': { compilerOptions: { outDir: `./${outDir}/` } } }),
        (outDir: string) => ({
          'tsconfig.json': { extends: './tsconfig.build', compilerOptions: { rootDir: 'src' } },
          'tsconfig.build.json': { extends: ['@tsconfig/node22/tsconfig.json', './config/base.json'] },
          'config/base.json': { extends: '../tsconfig.json', compilerOptions: { outDir: `../${outDir}` } },
        }),
      ),
    });
    fc.assert(
      fc.property(built, ({ output, path, spelled, script, isThere, config }) => {
        const module = `${output}/${path}.js`;
        const found = codebase({
          'package.json': { main: spelled(`${output}/${path}`), scripts: { [script]: '' } },
          'src/index.ts': '',
          ...config(output),
          ...(isThere && { [module]: '' }),
        });
        expect(found).toMatchObject({ module: `/shop/functions/${module}`, build: { output, script } });
        const edit = script === 'build' ? 'build' : 'none';
        expect(effectOf(found, '/shop/functions/src/index.ts')).toBe(edit);
        expect(effectOf(found, `/shop/functions/${module}`)).toBe('reload');
      }),
    );
  });

  test.each<[unknown, Record<string, string>, string]>([
    [{ '@shop/*': ['./src/*'] }, { build: 'tsc && tsc-alias' }, 'lib/index.js'],
    [{}, { build: 'tsc' }, 'src/index.ts'],
    // Nothing would write the module; such aliases may be only those of types.
    [{ '@shop/*': ['./src/*'] }, {}, 'src/index.ts'],
  ])('with aliases %j and the scripts %j, %s is served', (paths, scripts, module) => {
    const compilerOptions = { ...RUNNABLE.compilerOptions, paths };
    const found = codebase({
      'package.json': { main: 'lib/index.js', scripts },
      'src/index.ts': '',
      'tsconfig.json': { compilerOptions },
    });
    expect(found.module).toBe(`/shop/functions/${module}`);
  });

  test('a source is not built, although there are a script and a tsconfig.json', () => {
    for (const main of ['src/index.js', 'index.js', 'src/index.ts']) {
      const content = { 'package.json': { main, scripts: { build: 'x' } }, 'tsconfig.json': {}, [main]: '' };
      expect(codebase(content).build).toBeUndefined();
    }
  });

  test('a folder that a build has not written yet is refused', () => {
    const files = filesOf({ '/shop/firebase.json': { functions: { source: 'dist/apps/shop' } } });
    expect(codeOf(() => codebasesOf('/shop', [], files))).toMatch(
      /^ENTRY_NOT_FOUND: .*'default' has no \/shop\/dist\/apps\/shop\/package.json Build the codebase .*To serve only others: --codebase NAME\.$/,
    );
  });

  test('a missing main is refused', () => {
    expect(codeOf(() => codebase({ 'package.json': { main: 'main.js' } }))).toMatch(
      /^ENTRY_NOT_FOUND: .*main\.js/,
    );
  });
});

test('values of parameters and secrets are read as Firebase reads them: the later file wins', () => {
  const files = filesOf({
    // With the byte order mark of a Windows editor.
    '/f/.env': '\uFEFFA=1\nB=1\nC=1\nD=1',
    '/f/.env.shop': 'B="2 # no comment"\nC=2\nD=2',
    '/f/.env.local': 'C=3\nD=3',
    '/f/.env.other': 'A=9',
    '/f/.secret.local': '# a comment\nD=4',
  });
  const usual = { folder: '/f', settings: '/f', env: {} };
  expect(valuesOf(usual, 'shop', files)).toEqual({
    env: { A: '1', B: '2 # no comment', C: '3', D: '3' },
    secrets: { D: '4' },
  });
});

describe('a function kit', () => {
  const files = filesOf({
    '/shop/firebase.json': {
      functions: [
        { source: 'functions', prefix: 'eu', configDir: 'settings' },
        { kit: 'calls', source: 'kits/calls', instances: { one: 'kits/one', two: 'kits/two' } },
      ],
    },
    '/shop/functions/package.json': {},
    '/shop/functions/index.js': '',
    '/shop/kits/calls/package.json': { dependencies: { '@cairn/calls': '0.2.0' } },
    '/shop/kits/calls/index.js': '',
    '/shop/kits/one/.env.shop': 'CALL_TARGET_URL=http://one',
    '/shop/kits/two/.env.shop': 'CALL_TARGET_URL=http://two',
    '/shop/kits/calls/.env': 'CALL_TARGET_URL=http://nobody',
    '/shop/kits/calls/.secret.local': 'CALL_TOKEN=both',
  });
  const found = codebasesOf('/shop', [], files);

  test('is served once per instance, under its prefix; a codebase has the configured prefix', () => {
    expect(found.map(({ name, prefix, settings, hasCairn }) => [name, prefix, settings, hasCairn])).toEqual([
      ['default', 'eu-', '/shop/settings', false],
      ['one', 'kit-one-', '/shop/kits/one', true],
      ['two', 'kit-two-', '/shop/kits/two', true],
    ]);
    expect(new Set(found.slice(1).map(({ module }) => module))).toEqual(
      new Set(['/shop/kits/calls/index.js']),
    );
  });

  test('has settings for each instance, and one file of secrets', () => {
    expect(found.slice(1).map((instance) => valuesOf(instance, 'shop', files))).toEqual(
      ['one', 'two'].map((name) => ({
        env: { CALL_TARGET_URL: `http://${name}`, FIREBASE_KIT_INSTANCE_ID: name },
        secrets: { CALL_TOKEN: 'both' },
      })),
    );
  });

  test.each([
    ['kits/one/.env.shop', ['none', 'reload', 'none']],
    ['kits/calls/.secret.local', ['none', 'reload', 'reload']],
    ['kits/calls/index.js', ['none', 'reload', 'reload']],
    ['kits/calls/.env', ['none', 'none', 'none']],
    ['kits/one/other.js', ['none', 'none', 'none']],
    ['settings/.env', ['reload', 'none', 'none']],
  ])('an edit of %s reloads those that read it', (path, effects) => {
    expect(found.map((codebase) => effectOf(codebase, `/shop/${path}`))).toEqual(effects);
  });
});
