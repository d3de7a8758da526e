// Installs what a command of the project needs, and reports the progress of npm. Plain JS without dependencies, because it must
// run on any Node >= 20.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Path of the Node that runs the project's commands. */
export function pinnedNodeOf(root) {
  return join(root, 'node_modules/node/bin/node');
}

/** Follows the hash of the lock file in the stamp of an installation without the tools. */
const WITHOUT_TOOLS = ' without devDependencies';

/**
 * Installs if the lock file has changed. Uses `npm install --no-save`, not `npm ci`, because it also installs the locked versions
 * but keeps existing packages. npm's output goes to standard error.
 *
 * @param forUse without devDependencies, unless they are installed
 */
export async function install(root, { forUse }) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const stamp = join(root, 'node_modules/.cairn-installed');
  const hash = createHash('sha256').update(lock).digest('hex');
  const installed = existsSync(pinnedNodeOf(root)) && existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (installed === hash || (forUse && installed === hash + WITHOUT_TOOLS)) return;
  const all = packagesOf(lock);
  // Installed devDependencies are kept and updated, because a command that needs them may run at the same time.
  const withTools = !forUse || all.some(([path, { dev }]) => dev && existsSync(join(root, path)));
  const packages = withTools ? all : all.filter(([, { dev }]) => !dev);
  const options = { root, packages, args: [withTools ? '--include=dev' : '--omit=dev'] };
  await npmInstall(process.env, options);
  // npm silently omits optional packages, such as compiled parts, that require a newer Node than it runs on. The second run uses
  // the pinned Node, with the certificates that this machine's Node trusts.
  if (packages.some(([path, one]) => isForThisMachine(one) && !existsSync(join(root, path))))
    await npmInstall({ ...process.env, PATH: pinnedPath(root), NODE_OPTIONS: '--use-system-ca' }, options);
  // The stamp is recreated, because a copy of this folder by hard links shares the file.
  rmSync(stamp, { force: true });
  writeFileSync(stamp, withTools ? hash : hash + WITHOUT_TOOLS);
}

async function npmInstall(env, { root, packages, args }) {
  const over = showProgress(root, packages);
  const status = await new Promise((resolve) => {
    // npm's spinner would erase the line of progress.
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

/**
 * Reports the number of installed packages on standard error: in one line on a terminal, otherwise every ten seconds. Returns a
 * function that stops it.
 */
function showProgress(root, packages) {
  // Other optional packages may be omitted.
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
 * Line of progress of the first installation. After unpacking, npm links commands and runs install scripts, which takes ten
 * seconds or more.
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

/** PATH with the commands of the project's packages first, including Node. */
export function pinnedPath(root) {
  return `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`;
}
