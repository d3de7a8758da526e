/** Finds the bundle of functions that a test serves on a local cloud (scripts/test-functions/build.mjs). */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUILDS = join(ROOT, 'build/test-functions');

/**
 * Path of the bundle of a functions module.
 *
 * @param source path of the module
 * @throws Error if the module is not built
 */
export function builtFunctions(source: string): string {
  const module = relative(ROOT, source);
  const built = join(currentBuild(), module.replace(/\.ts$/, '.js'));
  if (!existsSync(built))
    throw new Error(`${module} is not built: add it to scripts/test-functions/build.mjs`);
  return built;
}

/**
 * Makes a package `cairn` from the bundle, for functions that a test writes, because a worker that loads the sources takes three
 * times as much CPU to start.
 *
 * @param nodeModules folder of packages that the functions find
 */
export function installBuiltCairn(nodeModules: string): void {
  const folder = join(nodeModules, 'cairn');
  mkdirSync(folder);
  symlinkSync(currentBuild(), join(folder, 'build'));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/cairn/package.json'), 'utf8')) as {
    readonly version: string;
  };
  const built = (name: string) => `./build/packages/cairn/src/${name}.js`;
  const exports = { '.': built('index'), './functions': built('functions') };
  const manifest = { name: 'cairn', version, type: 'module', exports };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
}

function currentBuild(): string {
  return join(BUILDS, readFileSync(join(BUILDS, 'current'), 'utf8'));
}
