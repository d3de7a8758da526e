// Bundles an installation with the engine, in chunks that are loaded on first use: for `firebase deploy` (build-functions.mjs)
// and for the published function kit (pack-kit.mjs).
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Packages of plain JavaScript without shared state. Bundled, they cost a cold instance less CPU than as hundreds of files. */
const BUNDLED = /^(?:@octokit\/.*|canonicalize|croner|hono|immutable|zod)$/;

export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Packages among these names that stay outside the bundle. */
export const installedOf = (names) => names.filter((name) => !BUNDLED.test(name));

/**
 * @param input module that exports the functions, or several by the name of their result
 * @param installed packages that are installed where the bundle runs
 * @param lib output folder, which is recreated
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

/** Inlines the version, because a bundle has no package.json beside the module that reads it. */
function versionInlined(version) {
  return {
    name: 'version-inlined',
    load: (id) =>
      id.endsWith('packages/cairn/src/platform/version.ts')
        ? `export const packageVersion = () => ${JSON.stringify(version)};`
        : undefined,
  };
}
