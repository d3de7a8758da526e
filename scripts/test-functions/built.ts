/** Finds the bundle of functions that a test serves on a local cloud (scripts/test-functions/build.mjs). */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUILDS = join(ROOT, 'build/test-functions');

/**
 * The bundle of a module of functions.
 *
 * @param source path of the module
 * @throws Error if it is not among those that are built
 */
export function builtFunctions(source: string): string {
  const module = relative(ROOT, source);
  const build = join(BUILDS, readFileSync(join(BUILDS, 'current'), 'utf8'));
  const built = join(build, module.replace(/\.ts$/, '.js'));
  if (!existsSync(built))
    throw new Error(`${module} is not built: add it to scripts/test-functions/build.mjs`);
  return built;
}
