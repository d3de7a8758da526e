import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

interface Lock {
  readonly packages: Readonly<Record<string, { integrity?: string; hasInstallScript?: boolean }>>;
}

const ROOT = join(import.meta.dirname, '../..');
// Plain JS, as all that packs.
const script = (name: string) => import(new URL(`../../scripts/${name}.mjs`, import.meta.url).href);
const { installedOf } = (await script('bundle')) as { installedOf(names: readonly string[]): string[] };
const { lockOf } = (await script('shrinkwrap')) as { lockOf(manifest: object, lock: object): Lock };
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

const manifest = {
  name: 'kit',
  version: '1.0.0',
  dependencies: { a: '1.0.0' },
  peerDependencies: { p: '^1.0.0' },
};
const lock = (packages: Record<string, object>) => ({
  lockfileVersion: 3,
  packages: { '': {}, ...packages },
});
const pathsOf = (packages: Record<string, object>) => Object.keys(lockOf(manifest, lock(packages)).packages);

describe('the lock of a package holds', () => {
  test('the dependencies of its dependencies, where Node finds them, and nothing else', () => {
    const packages = {
      'node_modules/a': { version: '1.0.0', dependencies: { b: '^2.0.0', '@s/c': '1' } },
      'node_modules/a/node_modules/b': { version: '2.0.0', dependencies: { d: '1' } },
      'node_modules/b': { version: '1.0.0', dependencies: { only: '1' } },
      'node_modules/only': { version: '1.0.0' },
      'node_modules/@s/c': { version: '1.0.0', dependencies: { a: '1' } },
      'node_modules/d': { version: '1.0.0', dependencies: { b: '1' } },
      'node_modules/p': { version: '1.0.0' },
    };
    expect(pathsOf(packages)).toEqual([
      '',
      'node_modules/@s/c',
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/b',
      'node_modules/d',
      'node_modules/only',
    ]);
  });

  test('optional packages that are installed, and peers that they require', () => {
    const packages = {
      'node_modules/a': {
        version: '1.0.0',
        optionalDependencies: { absent: '1', native: '1' },
        peerDependencies: { q: '1', unwanted: '1' },
        peerDependenciesMeta: { unwanted: { optional: true } },
      },
      'node_modules/native': { version: '1.0.0' },
      'node_modules/q': { version: '1.0.0' },
    };
    expect(pathsOf(packages)).toEqual(['', 'node_modules/a', 'node_modules/native', 'node_modules/q']);
  });

  test('the exact versions of the manifest, or none', () => {
    expect(() => pathsOf({ 'node_modules/a': { version: '1.0.1' } })).toThrow(
      'needs a 1.0.0; the lock has 1.0.1',
    );
    expect(() => pathsOf({ 'node_modules/a': { version: '1.0.0', dependencies: { b: '1' } } })).toThrow(
      'the lock has no b for node_modules/a',
    );
  });
});

test('the lock of a deployment has all dependencies of the kit, without its peers, and one install script', () => {
  const { dependencies: engine } = readJson('packages/cairn/package.json');
  const { peerDependencies } = readJson('packages/calls/package.json');
  const names = installedOf(Object.keys(engine));
  const dependencies = Object.fromEntries(names.map((name: string) => [name, engine[name]]));
  const made = lockOf(
    { name: '@cairn/calls', version: '0.2.0', dependencies, peerDependencies },
    readJson('functions/package-lock.json'),
  );
  const entries = Object.entries(made.packages);
  expect(entries.length).toBeGreaterThan(names.length);
  for (const peer of Object.keys(peerDependencies))
    expect(made.packages).not.toHaveProperty([`node_modules/${peer}`]);
  const locked = entries.filter(([path]) => path !== '');
  expect(locked.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
  // It only compares versions: firebase-tools runs no scripts when it installs a kit.
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(scripted.map(([path]) => path)).toEqual(['node_modules/protobufjs']);
});
