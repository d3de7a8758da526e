import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const REFUSED =
  /^Error: cairnFunctions: the package 'cairn' is part of a bundle.* --external:cairn of esbuild, external: \[(.*)\] of Rollup.* or externals: \[\1\] with .* of webpack/;

const VERSION_URL = pathToFileURL(join(ROOT, 'packages/cairn/src/platform/version.ts')).href;

/** Above two codebases, `alone` and `shop/functions`: packages without a manifest of Cairn. */
const folder = mkdtempSync(join(tmpdir(), 'cairn-bundled-'));
/** By codebase and bundle name: the defined functions, or the error. */
let loaded: Readonly<Record<string, string>> = {};

/** Bundles the module into both codebases and loads the results, in a separate process, because Rolldown is native code. */
const SCRIPT = `
  import { cpSync } from 'node:fs';
  import { build } from 'rolldown';
  // The other packages exist only as ES modules, which CommonJS cannot require.
  const outside = /^(?:firebase-|@google-cloud|@grpc|@opentelemetry)/;
  const bundles = [
    ['esm.mjs', 'esm', [], {}],
    ['shimmed.cjs', 'cjs', [], {}],
    // Like esbuild without a shim.
    ['plain.cjs', 'cjs', [], { define: { 'import.meta.url': 'undefined' } }],
    // Like webpack: the URL of the source on this machine.
    ['fixed.cjs', 'cjs', [], { define: { 'import.meta.url': JSON.stringify(process.env.VERSION_URL) } }],
    ['advised.mjs', 'esm', [/^cairn(\\/|$)/], {}],
  ];
  for (const [name, format, external, transform] of bundles)
    await build({
      input: 'index.ts', platform: 'node', logLevel: 'silent', external: [outside, ...external], transform,
      output: { dir: 'alone/lib', format, entryFileNames: name, codeSplitting: false },
    });
  cpSync('alone', 'shop/functions', { recursive: true });
  const loaded = {};
  for (const codebase of ['alone', 'shop/functions'])
    for (const [name] of bundles)
      loaded[codebase + ' ' + name] = await import(process.cwd() + '/' + codebase + '/lib/' + name).then(
        ({ made }) => Object.keys(made).join(' '), String);
  process.stdout.write(JSON.stringify(loaded), () => process.exit(0));`;

beforeAll(() => {
  mkdirSync(join(folder, 'shop'));
  writeFileSync(join(folder, 'shop/package.json'), '{ "name": "shop", "version": "7.0.0" }');
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const source = `import { cairnFunctions } from 'cairn/functions';
    export const made = cairnFunctions({ workflows: [], region: 'us-central1' });`;
  writeFileSync(join(folder, 'index.ts'), source);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', SCRIPT],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, VERSION_URL } },
  );
  if (stdout === '') throw new Error(stderr);
  loaded = JSON.parse(stdout);
});

afterAll(() => rmSync(folder, { recursive: true }));

test.each(
  // `import.meta.url` in each format: that of the bundle, that of the bundle by a shim, undefined, and that of the source.
  ['esm.mjs', 'shimmed.cjs', 'plain.cjs', 'fixed.cjs'].flatMap((bundle) => [
    ['without a manifest', 'alone', bundle],
    ['with the manifest of the project', 'shop/functions', bundle],
  ]),
)('a bundle %s two folders above is refused when its functions are defined: %s %s', (_, codebase, bundle) => {
  expect(loaded[`${codebase} ${bundle}`]).toMatch(REFUSED);
});

test('a bundle with the option that the refusal names defines its functions', () => {
  expect(REFUSED.exec(loaded['alone esm.mjs'] ?? '')?.[1]).toBe('/^cairn(\\/|$)/');
  for (const codebase of ['alone', 'shop/functions'])
    expect(loaded[`${codebase} advised.mjs`]).toMatch(/^api drive /);
});
