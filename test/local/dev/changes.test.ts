import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { missingPackage } from '../../../packages/local/src/dev/linked-packages.ts';
import { codebasesOf, effectOf, isIgnored } from '../../../packages/local/src/dev/project.ts';
import { codebase, filesOf, TSCONFIG } from './codebase.ts';

describe('a change of a file', () => {
  const asIs = codebase({ 'package.json': {}, 'index.js': '' });
  const compiled = (script: string) =>
    codebase({
      'package.json': { main: 'lib/index.js', scripts: { [script]: 'tsc' } },
      'src/index.ts': '',
      'tsconfig.json': TSCONFIG,
    });

  test.each([
    ['index.js', 'reload', 'build', 'none'],
    ['src/order.ts', 'reload', 'build', 'none'],
    ['lib/index.js', 'reload', 'reload', 'reload'],
    ['.env', 'reload', 'reload', 'reload'],
    ['.env.local', 'reload', 'reload', 'reload'],
    ['.secret.local', 'reload', 'reload', 'reload'],
    ['src/.env', 'none', 'none', 'none'],
    ['node_modules/zod/index.js', 'none', 'none', 'none'],
    ['.git/index.js', 'none', 'none', 'none'],
    ['README.md', 'none', 'none', 'none'],
    ['package-lock.json', 'reload', 'reload', 'reload'],
    ['pnpm-lock.yaml', 'reload', 'reload', 'reload'],
    ['test/app/package-lock.json', 'none', 'none', 'none'],
    ['package.json', 'reload', 'build', 'none'],
    ['src/page.tsx', 'none', 'build', 'none'],
    ['src/data.json', 'reload', 'build', 'none'],
    ['src/helper.mjs', 'reload', 'build', 'none'],
    ['lib/index.d.mts', 'reload', 'none', 'none'],
    ['src/globals.d.ts', 'reload', 'none', 'none'],
    ['../other/index.js', 'none', 'none', 'none'],
  ])('%s: served as it is → %s, built → %s, built by its own watcher → %s', (path, plain, built, watched) => {
    const at = `/shop/functions/${path}`.replace('functions/../', '');
    expect(effectOf(asIs, at)).toBe(plain);
    expect(effectOf(compiled('build'), at)).toBe(built);
    expect(effectOf(compiled('build:watch'), at)).toBe(watched);
  });
});

test('a build for a deployment changes nothing where Node runs the sources', () => {
  const compilerOptions = fc.constantFrom(
    { rootDir: 'src', outDir: 'lib' },
    { outDir: 'lib' },
    { rootDir: 'src' },
    { rootDir: 'lib/src', outDir: 'lib' },
  );
  const name = fc.constantFrom('index', 'workflows/order');
  const written = fc.constantFrom('js', 'mjs', 'json', 'd.ts');
  fc.assert(
    fc.property(compilerOptions, name, written, (options, name, extension) => {
      const { rootDir = 'src' } = options as { readonly rootDir?: string };
      const found = codebase({
        'package.json': { main: 'lib/index.js', scripts: { build: 'tsc' } },
        'tsconfig.json': { compilerOptions: { ...options, rewriteRelativeImportExtensions: true } },
        [`${rootDir}/index.ts`]: '',
      });
      expect(found.module).toBe(`/shop/functions/${rootDir}/index.ts`);
      expect(effectOf(found, `/shop/functions/lib/${name}.${extension}`)).toBe('none');
      expect(effectOf(found, `/shop/functions/${rootDir}/${name}.ts`)).toBe('reload');
    }),
  );
});

describe('a JavaScript codebase with a tsconfig.json and a script build', () => {
  const path = fc.constantFrom('src/util', 'util', 'src/a/b', 'config/values');
  const extension = fc.constantFrom('js', 'mjs', 'cjs', 'json');
  const isThere = fc.boolean();

  test('is built after an edit of any file that a bundler reads', () => {
    const folder = fc.constantFrom('lib', 'dist', 'build', 'out');
    const compilerOptions = fc.constantFrom(
      { allowJs: true },
      { allowJs: true, noEmit: true },
      { outDir: 'types' },
    );
    const build = fc.constantFrom(
      'esbuild src/index.js --bundle',
      'tsc --noEmit && esbuild src/index.js',
      'tsc --noEmit false',
      'tsc -p config',
    );
    const edit = fc.tuple(path, fc.oneof(extension, fc.constantFrom('jsx', 'tsx', 'ts')));
    fc.assert(
      fc.property(fc.record({ folder, compilerOptions, build, edit, isThere }), (one) => {
        const { folder, compilerOptions, build, edit, isThere } = one;
        const found = codebase({
          'package.json': { main: `${folder}/index.js`, scripts: { build } },
          'tsconfig.json': { compilerOptions },
          'src/index.js': '',
          ...(isThere && { [`${folder}/index.js`]: '' }),
        });
        expect(effectOf(found, `/shop/functions/${edit.join('.')}`)).toBe('build');
        expect(effectOf(found, `/shop/functions/${folder}/index.js`)).toBe('reload');
      }),
    );
  });

  test('is loaded after an edit if its script only checks', () => {
    const checks = fc.constantFrom(
      [{ checkJs: true, noEmit: true }, 'tsc'],
      [{ checkJs: true, noEmit: true }, 'eslint . && tsc'],
      [{ checkJs: true }, 'npx tsc --noEmit'],
      [{ checkJs: true }, 'tsc --noEmit -p .'],
    );
    const edited = fc.tuple(fc.oneof(path, fc.constantFrom('lib/index', 'lib/util')), extension);
    const script = fc.constantFrom('build', 'build:watch');
    fc.assert(
      fc.property(checks, script, edited, ([compilerOptions, check], name, edit) => {
        const found = codebase({
          'package.json': { main: 'lib/index.js', scripts: { [name]: check } },
          'tsconfig.json': { compilerOptions },
          'lib/index.js': '',
        });
        expect(found).toMatchObject({ build: undefined, isChecked: true });
        expect(effectOf(found, `/shop/functions/${edit.join('.')}`)).toBe('reload');
      }),
    );
  });
});

test('what a build writes never starts a build, in whatever folder the bundler reads it', () => {
  const folders = fc.constantFrom('lib', 'dist', 'build', 'out', 'compiled/js');
  const suffix = fc.constantFrom('js', 'mjs', 'json', 'd.ts', 'd.mts', 'd.cts');
  fc.assert(
    fc.property(folders, suffix, fc.boolean(), (outDir, end, isNamed) => {
      const bundled = codebase({
        'package.json': { main: 'dist/index.js', scripts: { build: 'tsc && esbuild lib/index.js' } },
        'tsconfig.json': { compilerOptions: isNamed ? { outDir } : {} },
        'src/index.ts': '',
      });
      const place = isNamed ? outDir : 'lib';
      expect(effectOf(bundled, `/shop/functions/${place}/a/index.${end}`)).not.toBe('build');
      expect(effectOf(bundled, '/shop/functions/src/index.d.ts')).toBe('none');
      // Without an outDir the compiler writes beside its sources.
      expect(effectOf(bundled, '/shop/functions/src/index.js')).toBe(isNamed ? 'build' : 'none');
    }),
  );
});

test('sources in a folder that has the name of an output start a build', () => {
  const sources = (compilerOptions: object) =>
    codebase({
      'package.json': { main: 'dist/index.js', scripts: { build: 'tsc' } },
      'tsconfig.json': { compilerOptions: { outDir: 'dist', ...compilerOptions } },
    });
  expect(effectOf(sources({}), '/shop/functions/lib/index.ts')).toBe('build');
  expect(effectOf(sources({ rootDir: 'lib' }), '/shop/functions/lib/index.js')).toBe('build');
});

test('a package is missing that is only in a folder of NODE_PATH, as pnpm sets it', () => {
  const files = filesOf({
    '/shop/functions/node_modules/zod': {},
    '/node_modules/cairn': {},
    '/shop/node_modules/.pnpm/node_modules/firebase-admin': {},
  });
  expect(missingPackage('/shop/functions', ['zod', 'cairn', 'firebase-admin'], files)).toBe('firebase-admin');
  expect(missingPackage('/shop/functions', ['zod', 'cairn'], files)).toBeUndefined();
});

describe('a package of the workspace', () => {
  const place = fc.constantFrom(
    '/shop/functions/node_modules/@shop/shared',
    '/shop/node_modules/@shop/shared',
  );
  const own = (scripts: object, kind = 'dependencies') => ({
    '/shop/firebase.json': { functions: {} },
    '/shop/functions/package.json': { main: 'lib/index.js', scripts, [kind]: { '@shop/shared': '*' } },
    '/shop/functions/tsconfig.json': TSCONFIG,
    '/shop/functions/src/index.ts': '',
    '/shop/functions/lib/index.js': '',
  });
  // A bundler takes in packages that a deployment does not install.
  const kindOfDependency = fc.constantFrom('dependencies', 'devDependencies');
  const manifest = {
    dependencies: { zod: '4', '@shop/base': '*', app: '*' },
    devDependencies: { '@shop/lint': '*' },
  };

  test.each([
    [{ build: 'tsc' }, 'both'],
    [{ 'build:watch': 'tsc -w' }, 'reload'],
  ])('that a codebase with %j loads, also through another one, is %s when it changes', (scripts, effect) => {
    fc.assert(
      fc.property(place, place, kindOfDependency, (shared, base, kind) => {
        const at = (path: string) => path.replace('@shop/shared', '@shop/base').replace('/functions/', '/');
        const links = {
          [shared]: '/shop/packages/shared',
          [at(base)]: '/shop/packages/base',
          '/shop/node_modules/@shop/lint': '/shop/packages/lint',
        };
        const files = filesOf(
          {
            ...own(scripts, kind),
            [`${shared}/package.json`]: manifest,
            '/shop/packages/shared/package.json': manifest,
            '/shop/node_modules/zod/package.json': {},
            '/shop/node_modules/@shop/lint/package.json': {},
            [`${at(base)}/package.json`]: {},
            '/shop/packages/base/package.json': {},
          },
          links,
        );
        const [found] = codebasesOf('/shop', [], files);
        if (!found) throw new Error('no codebase');
        expect([...found.linked].sort()).toEqual(['/shop/packages/base', '/shop/packages/shared']);
        for (const path of ['shared/dist/index.js', 'shared/src/index.ts', 'base/data.json'])
          expect(effectOf(found, `/shop/packages/${path}`)).toBe(effect);
        for (const path of [
          'shared/dist/index.d.ts',
          'shared/README.md',
          'shared/node_modules/a/b.js',
          'other/a.js',
        ])
          expect(effectOf(found, `/shop/packages/${path}`)).toBe('none');
      }),
    );
  });

  test('that has the codebase in it is not watched as a whole', () => {
    const files = filesOf(
      {
        ...own({ build: 'tsc' }),
        '/shop/node_modules/@shop/shared/package.json': {},
        '/shop/package.json': {},
      },
      { '/shop/node_modules/@shop/shared': '/shop' },
    );
    expect(codebasesOf('/shop', [], files)[0]?.linked).toEqual([]);
  });
});

test('a folder ignores nothing outside of it, also beside it where one name begins with the other', () => {
  const folder = fc.constantFrom('/ws/functions', '/ws/packages/api');
  const suffix = fc.constantFrom('-functions', '-shared', '2', '.d');
  const inside = fc.constantFrom('', '/src/index.ts', '/package.json', '/lib');
  fc.assert(
    fc.property(folder, suffix, inside, (shorter, end, path) => {
      const longer = `${shorter}${end}`;
      expect(isIgnored(shorter, longer + path)).toBe(false);
      expect(isIgnored(longer, shorter + path)).toBe(false);
      expect(isIgnored(shorter, '/ws')).toBe(false);
      expect(isIgnored(longer, `${longer}/node_modules/zod`)).toBe(true);
      expect(isIgnored(longer, `${longer}/.git`)).toBe(true);
    }),
  );
});
