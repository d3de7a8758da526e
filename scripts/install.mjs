// Installs what a command of the project needs on a bare machine, and reports how far npm is. Must run on any Node >= 20, so: no
// dependencies, plain JS.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The Node that the project's commands run on. */
export function pinnedNodeOf(root) {
  return join(root, 'node_modules/node/bin/node');
}

/** Follows the hash of the lock file in the stamp of an installation without the tools. */
const WITHOUT_TOOLS = ' without devDependencies';

/**
 * Installs unless the lock file is the one installed last. `npm install --no-save`, not `npm ci`: it takes the
 * locked versions too, and keeps what is there. npm's own talk goes to standard error.
 *
 * @param forUse without the tools for tests and checks (devDependencies), unless they are there
 */
export async function install(root, { forUse }) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const stamp = join(root, 'node_modules/.cairn-installed');
  const hash = createHash('sha256').update(lock).digest('hex');
  const installed = existsSync(pinnedNodeOf(root)) && existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (installed === hash || (forUse && installed === hash + WITHOUT_TOOLS)) return;
  const all = packagesOf(lock);
  // Tools that were installed once are kept and updated: a command that needs them may run beside this one.
  const withTools = !forUse || all.some(([path, { dev }]) => dev && existsSync(join(root, path)));
  const packages = withTools ? all : all.filter(([, { dev }]) => !dev);
  const options = { root, packages, args: [withTools ? '--include=dev' : '--omit=dev'] };
  await npmInstall(process.env, options);
  // An npm leaves out optional packages, such as compiled parts, that want a newer Node than it runs on, and says nothing.
  // Now there is one, and npm runs on the first that it finds; it is to trust whom this machine's own Node trusts.
  if (packages.some(([path, one]) => isForThisMachine(one) && !existsSync(join(root, path))))
    await npmInstall({ ...process.env, PATH: pinnedPath(root), NODE_OPTIONS: '--use-system-ca' }, options);
  // Made anew: a copy of this folder by hard links has packages of its own.
  rmSync(stamp, { force: true });
  writeFileSync(stamp, withTools ? hash : hash + WITHOUT_TOOLS);
}

async function npmInstall(env, { root, packages, args }) {
  const over = showProgress(root, packages);
  const status = await new Promise((resolve) => {
    // A spinner of npm would erase the line that says how far it is.
    const options = ['--no-save', '--loglevel=error', '--no-audit', '--no-fund', '--no-progress', ...args];
    const npm = spawn('npm', ['install', ...options], {
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
function showProgress(root, packages) {
  // Another optional package may be left out.
  const paths = packages.filter(([, one]) => !one.optional || isForThisMachine(one)).map(([path]) => path);
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

/**
 * The line that says how far the first installation is. Once all packages are unpacked npm is not done: it links commands and runs the
 * install scripts of packages, which takes ten seconds and more.
 */
export function installText({ there, of, seconds }) {
  const now = there < of ? `${there} of ${of} packages` : 'npm runs install scripts';
  return `cairn: installing dependencies (once): ${now}, ${seconds} s`;
}

export function installedText(there, seconds) {
  return `cairn: ${there} packages installed in ${seconds} s`;
}

/** An optional package with the compiled part for this machine. */
function isForThisMachine({ optional, os, cpu }) {
  return optional && (os || cpu);
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

/** With the commands of the project's packages first, Node among them. */
export function pinnedPath(root) {
  return `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`;
}
