// Bundles the functions that tests serve on a local cloud, because a worker that loads a few files instead of 600 takes a third
// less CPU to start, and the tests start hundreds. Runs before `npm test`; does nothing if the same sources were built.
// `built.ts` finds the result.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, installedOf, readJson } from '../bundle.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const MODULES = [
  'functions/src/index.ts',
  'packages/cairn/src/functions.ts',
  'packages/cairn/src/index.ts',
  'scripts/agent-kills/functions.ts',
  'scripts/demo/functions.ts',
  'test/console/fixtures/functions.ts',
  'test/console/fixtures/showcase.ts',
  'test/local/start/renamed-functions.ts',
  'test/platform/fixtures/functions.ts',
  'test/system/fixtures/effect-functions.ts',
  'test/system/fixtures/functions.ts',
  'test/system/fixtures/message-functions.ts',
  'test/system/fixtures/metered-functions.ts',
  'test/system/fixtures/sweep-functions.ts',
  'test/system/fixtures/traced-functions.ts',
  'test/system/installations/fixtures/two-installations.ts',
];
/** Folders of all imported modules. The result also depends on installed packages and on this script. */
const FOLDERS = [
  'functions/src',
  'packages/agents/src',
  'packages/cairn/src',
  'scripts/agent-kills',
  'scripts/demo',
  'scripts/test-functions',
  'test/console/fixtures',
  'test/local/start',
  'test/platform/fixtures',
  'test/sweep',
  'test/system/fixtures',
  'test/system/installations/fixtures',
  'test/system/sweep',
];
const OTHERS = ['functions/package-lock.json', 'package-lock.json', 'scripts/bundle.mjs'];

const builds = join(root, 'build/test-functions');
/** Kept builds, because a test run that began before the last edits still uses its own. */
const KEPT = 3;

const name = sourcesHash().slice(0, 16);
const result = join(builds, name);
if (!existsSync(result)) await build();
// Replaced atomically, because another test run may read it now.
writeFileSync(join(builds, `current-${process.pid}`), name);
renameSync(join(builds, `current-${process.pid}`), join(builds, 'current'));

async function build() {
  mkdirSync(builds, { recursive: true });
  const made = join(builds, `making-${process.pid}`);
  const { dependencies, devDependencies } = readJson(join(root, 'package.json'));
  const { output } = await bundle({
    input: Object.fromEntries(MODULES.map((module) => [module.replace(/\.ts$/, ''), join(root, module)])),
    installed: installedOf(Object.keys({ ...dependencies, ...devDependencies })),
    lib: made,
  });
  for (const id of output.flatMap(({ moduleIds = [] }) => moduleIds)) assertCounted(relative(root, id));
  try {
    renameSync(made, result);
  } catch (error) {
    rmSync(made, { recursive: true });
    // Another process may have built the same.
    if (!existsSync(result)) throw error;
  }
  removeOld();
}

/** @throws Error if changes of the file would not be detected */
function assertCounted(file) {
  const isInstalled = file.split(sep).includes('node_modules');
  const isCounted = FOLDERS.some((folder) => file.startsWith(`${folder}${sep}`));
  if (!isInstalled && !isCounted && existsSync(join(root, file)))
    throw new Error(`${file} is bundled: add its folder to FOLDERS of scripts/test-functions/build.mjs`);
}

function sourcesHash() {
  const hash = createHash('sha256');
  for (const file of [...OTHERS, ...FOLDERS.flatMap(filesUnder)].sort())
    hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function filesUnder(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function removeOld() {
  const others = readdirSync(builds, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== name && !entry.name.startsWith('making-'))
    .map((entry) => join(builds, entry.name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const old of others.slice(KEPT - 1)) rmSync(old, { recursive: true, force: true });
}
