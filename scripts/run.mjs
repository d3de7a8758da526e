// Runs one of the project's commands on a bare machine: installs what is missing, then hands over to the
// Node version the project pins (devDependency `node`). Must run on any Node >= 20, so: no dependencies, plain JS.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { helpText } from './help.mjs';
import { installedText, installText } from './install-progress.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pinnedNode = join(root, 'node_modules/node/bin/node');
const quiet = ['--disable-warning=ExperimentalWarning'];
/** As packages/local/src/node-flags.ts has them, which says why. */
const cloud = [...quiet, '--invocation-count-for-maglev=40', '--minimum-invocations-after-ic-update=40'];
const jest = [...quiet, '--experimental-vm-modules', join(root, 'node_modules/jest/bin/jest.js')];

const buildConsole = [join(root, 'scripts/build-console.mjs')];
const buildTestFunctions = [join(root, 'scripts/test-functions/build.mjs')];

const [name, ...args] = process.argv.slice(2);
/** An example beside the shipped workflows; a later `--functions` counts, and firebase-tools serves the folder functions/. */
const exampleFunctions = args.includes('--emulators') ? [] : ['--functions', 'examples/order/functions.ts'];

/** Each command is a list of node invocations, run in order until one fails. */
const commands = {
  start: [
    ...(args.includes('--help') ? [] : [buildConsole]),
    [...cloud, join(root, 'packages/local/src/main.ts'), ...exampleFunctions],
  ],
  emulators: [
    buildConsole,
    [join(root, 'scripts/install-emulators.mjs')],
    [...cloud, join(root, 'packages/local/src/main.ts'), '--emulators'],
  ],
  firestore: [[...quiet, join(root, 'packages/local-firestore/src/main.ts')]],
  demo: [[...quiet, join(root, 'scripts/demo/main.ts')]],
  picture: [[...quiet, join(root, 'scripts/picture/main.ts')]],
  test: [buildConsole, buildTestFunctions, jest],
  'test:emulators': [
    buildConsole,
    [join(root, 'scripts/install-emulators.mjs')],
    [...jest, 'test/emulators/'],
  ],
  deploy: [[join(root, 'scripts/install-emulators.mjs')], [...quiet, join(root, 'scripts/deploy/main.ts')]],
  firebase: [
    [join(root, 'scripts/install-emulators.mjs')],
    [join(root, 'emulators/node_modules/firebase-tools/lib/bin/firebase.js')],
  ],
  'test:deploy': [buildConsole, [join(root, 'scripts/install-emulators.mjs')], [...jest, 'test/deploy/']],
  bench: [[...quiet, join(root, 'bench/main.ts')]],
  'bench:console': [buildConsole, [...quiet, join(root, 'bench/console/main.ts')]],
  'bench:scan': [[...quiet, join(root, 'bench/scan/main.ts')]],
  simulate: [[...quiet, join(root, 'bench/simulate/main.ts')]],
  sweep: [[...quiet, join(root, 'test/sweep/main.ts')]],
  soak: [buildTestFunctions, [join(root, 'scripts/soak.mjs')]],
  crowds: [[...quiet, join(root, 'test/programs/crowds/main.ts')]],
  'agent-kills': [buildTestFunctions, [...quiet, join(root, 'scripts/agent-kills/main.ts')]],
  'power-cut': [[...quiet, join(root, 'scripts/power-cut/main.ts')]],
  cairn: [[...quiet, join(root, 'packages/cli/src/main.ts')]],
  check: [[join(root, 'scripts/check.mjs')]],
  format: [[join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '--write', '.']],
  types: [
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', root],
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'packages/console')],
  ],
  'console:build': [buildConsole],
  newcomer: [[...quiet, join(root, 'scripts/newcomer/main.ts')]],
  adopt: [buildConsole, [...quiet, join(root, 'scripts/adopt/main.ts')]],
  pack: [buildConsole, [join(root, 'scripts/pack.mjs')]],
  'console:dev': [[join(root, 'node_modules/vite/bin/vite.js'), join(root, 'packages/console')]],
};

if (name === 'help') {
  process.stdout.write(helpText());
  process.exit(0);
}
const invocations = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (!invocations) {
  process.stderr.write(helpText(name));
  process.exit(2);
}
await install();
/**
 * Every process that is started keeps its compiled modules for the next, from its first module on: `enableCompileCache()` in a main comes
 * after that main's own imports were stripped of their types. The folder is Node's usual one; an entry counts for the very same source only.
 */
const env = {
  NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
  ...process.env,
  PATH: pinnedPath(),
};
for (const [i, invocation] of invocations.entries()) {
  const argv = [...invocation, ...args];
  if (i === invocations.length - 1) handOver(argv);
  else {
    const { status } = spawnSync(pinnedNode, argv, { cwd: root, env, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
}

/**
 * Installs unless the lock file is the one installed last. `npm install --no-save`, not `npm ci`: it takes the
 * locked versions too, and keeps what is there. npm's own talk goes to standard error.
 */
async function install() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const stamp = join(root, 'node_modules/.cairn-installed');
  const wanted = createHash('sha256').update(lock).digest('hex');
  if (existsSync(pinnedNode) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  await npmInstall(process.env, lock);
  // An npm leaves out optional packages, such as compiled parts, that want a newer Node than it runs on, and says nothing.
  // Now there is one, and npm runs on the first that it finds; it is to trust whom this machine's own Node trusts.
  if (leftOut(lock).length > 0)
    await npmInstall({ ...process.env, PATH: pinnedPath(), NODE_OPTIONS: '--use-system-ca' }, lock);
  // Made anew: a copy of this folder by hard links has packages of its own.
  rmSync(stamp, { force: true });
  writeFileSync(stamp, wanted);
}

async function npmInstall(env, lock) {
  const over = showProgress(lock);
  const status = await new Promise((resolve) => {
    const npm = spawn('npm', ['install', '--no-save', '--loglevel=error', '--no-audit', '--no-fund'], {
      cwd: root,
      env,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    });
    npm.once('error', () => resolve(1));
    npm.once('exit', (code) => resolve(code ?? 1));
  });
  over(status === 0);
  if (status === 0) return;
  process.stderr.write('cairn: `npm install` failed; see its output above\n');
  process.exit(status);
}

/** Reports on standard error how many packages are there: on a terminal in one line, elsewhere every ten seconds. Returns its end. */
function showProgress(lock) {
  // An optional package may be left out, unless it is the part for this machine.
  const paths = packagesOf(lock)
    .filter(([, { optional, os, cpu }]) => !optional || os || cpu)
    .map(([path]) => path);
  const began = Date.now();
  const { isTTY } = process.stderr;
  const show = (isDone = false) => {
    const there = paths.filter((path) => existsSync(join(root, path, 'package.json'))).length;
    const seconds = Math.round((Date.now() - began) / 1_000);
    const text = isDone ? installedText(there, seconds) : installText({ there, of: paths.length, seconds });
    // A line can be shorter than the one before it.
    process.stderr.write(isTTY ? `\r${text}\x1b[K` : `${text}\n`);
  };
  show();
  const ticker = setInterval(show, isTTY ? 500 : 10_000);
  return (isDone) => {
    clearInterval(ticker);
    show(isDone);
    if (isTTY) process.stderr.write('\n');
  };
}

/** Optional packages of the lock file that are for this machine and are not there. */
function leftOut(lock) {
  return packagesOf(lock)
    .filter(([path, { optional, os, cpu }]) => optional && (os || cpu) && !existsSync(join(root, path)))
    .map(([path]) => path);
}

/** Packages of the lock file that npm installs on this machine, with their paths. */
function packagesOf(lock) {
  const isFor = (words, mine) => words === undefined || words.includes(mine);
  const libc = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
  return Object.entries(JSON.parse(lock).packages)
    .filter(([path, { link }]) => path.startsWith('node_modules/') && !link)
    .filter(([, { os, cpu }]) => isFor(os, process.platform) && isFor(cpu, process.arch))
    .filter(([, one]) => process.platform !== 'linux' || isFor(one.libc, libc));
}

function pinnedPath() {
  return `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`;
}

/** Replaces this process where Node can, so that a signal sent to it reaches the program itself. */
function handOver(argv) {
  if (typeof process.execve === 'function') {
    process.chdir(root);
    process.execve(pinnedNode, [pinnedNode, ...argv], env);
  }
  const child = spawn(pinnedNode, argv, { cwd: root, env, stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}
