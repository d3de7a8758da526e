// Builds what `firebase deploy` uploads: the installation and the engine as one bundle in functions/lib, in pieces that are
// loaded when they are first needed. Google's, Firebase's and OpenTelemetry's packages of functions/package.json are installed by the
// platform. An argument names another folder for the result.
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const functions = join(root, 'functions');
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
/** Plain JavaScript without state that others share: from one file each they take a cold instance less CPU than from hundreds. */
const BUNDLED = /^(?:@octokit\/.*|canonicalize|croner|hono|immutable|zod)$/;
const installed = Object.keys(readJson(join(functions, 'package.json')).dependencies).filter(
  (name) => !BUNDLED.test(name),
);
const lib = resolve(process.argv[2] ?? join(functions, 'lib'));
const { version } = readJson(join(root, 'packages/cairn/package.json'));

rmSync(lib, { recursive: true, force: true });
await build({
  input: join(functions, 'src/index.ts'),
  cwd: functions,
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

/** In a bundle no package file lies beside the module that reads the version. */
function versionInlined(version) {
  return {
    name: 'version-inlined',
    load: (id) =>
      id.endsWith('packages/cairn/src/platform/version.ts')
        ? `export const version = ${JSON.stringify(version)};`
        : undefined,
  };
}
