// Runs a command of the project: installs what is missing (install.mjs), then runs the pinned Node (dependency `node`). Plain JS
// without dependencies, because it must run on any Node >= 20.
import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandHelp, helpText } from './help.mjs';
import { install, pinnedNodeOf, pinnedPath } from './install.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pinnedNode = pinnedNodeOf(root);
const quiet = ['--disable-warning=ExperimentalWarning'];
/** The flags of packages/local/src/node-flags.ts, which explains them. */
const cloud = [
  ...quiet,
  '--invocation-count-for-maglev=40',
  '--minimum-invocations-after-ic-update=40',
  '--max-semi-space-size=16',
];
const jest = [...quiet, '--experimental-vm-modules', join(root, 'node_modules/jest/bin/jest.js')];

const buildConsole = [join(root, 'scripts/build-console.mjs')];
const buildTestFunctions = [join(root, 'scripts/test-functions/build.mjs')];

const [name, ...args] = process.argv.slice(2);
/**
 * Serves an example beside the shipped workflows. A later `--functions` takes precedence; firebase-tools serves the folder
 * functions/.
 */
const exampleFunctions = args.includes('--emulators') ? [] : ['--functions', 'examples/order/functions.ts'];

/** Commands that need no devDependencies, which are a third of the installation. */
const FOR_USE = new Set(['start', 'firestore', 'cairn']);

/** Commands without their own usage text: `--help` prints their row of docs/commands.md. */
const HELPED_BY_DOCS = new Set([
  'adopt',
  'bench:console',
  'check',
  'console:build',
  'demo',
  'format',
  'newcomer',
  'pack',
  'soak',
  'types',
]);

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
  soak: [buildConsole, buildTestFunctions, [join(root, 'scripts/soak.mjs')]],
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
if (args.includes('--help') && HELPED_BY_DOCS.has(name)) {
  process.stdout.write(commandHelp(name));
  process.exit(0);
}
await install(root, { forUse: FOR_USE.has(name) });
/**
 * Processes share compiled modules by Node's compile cache, set by the environment because `enableCompileCache()` in a main would
 * miss that main's own imports. The folder is Node's default; an entry is valid only for identical source.
 */
const env = {
  NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
  ...process.env,
  PATH: pinnedPath(root),
};
for (const [i, invocation] of invocations.entries()) {
  const argv = [...invocation, ...args];
  if (i === invocations.length - 1) handOver(argv);
  else {
    const { status } = spawnSync(pinnedNode, argv, { cwd: root, env, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
}

/** Replaces this process if Node supports it, so that signals reach the program itself. */
function handOver(argv) {
  if (typeof process.execve === 'function') {
    process.chdir(root);
    process.execve(pinnedNode, [pinnedNode, ...argv], env);
  }
  const child = spawn(pinnedNode, argv, { cwd: root, env, stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}
