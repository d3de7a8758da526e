// Bundles an installation with the engine, in pieces that are loaded when they are first needed: what `firebase deploy` uploads
// (build-functions.mjs) and the function kit as it is published (pack-kit.mjs).
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Plain JavaScript without state that others share: from one file each they take a cold instance less CPU than from hundreds. */
const BUNDLED = /^(?:@octokit\/.*|canonicalize|croner|hono|immutable|zod)$/;

export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Packages among these names that stay outside of the bundle. */
export const installedOf = (names) => names.filter((name) => !BUNDLED.test(name));

/**
 * @param input module that exports the functions, or several by the name of their result
 * @param installed packages that are found where the bundle runs
 * @param lib folder of the result, which is made anew
 */
export async function bundle({ input, installed, lib }) {
  const { version } = readJson(join(root, 'packages/cairn/package.json'));
  rmSync(lib, { recursive: true, force: true });
  return build({
    input,
    cwd: typeof input === 'string' ? dirname(input) : root,
    platform: 'node',
    external: (id) =>
      id.startsWith('node:') || installed.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [versionInlined(version)],
    output: {
      dir: lib,
      format: 'esm',
      sourcemap: true,
      entryFileNames: '[name].js',
      chunkFileNames: 'parts/[name]-[hash].js',
    },
  });
}

/** In a bundle no package file lies beside the module that reads the version. */
function versionInlined(version) {
  return {
    name: 'version-inlined',
    load: (id) =>
      id.endsWith('packages/cairn/src/platform/version.ts')
        ? `export const packageVersion = () => ${JSON.stringify(version)};`
        : undefined,
  };
}
