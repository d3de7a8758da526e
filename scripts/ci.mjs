// Runs the checks, then all tests, then prints one closing line with the results. `.ci/run` calls it once Node is installed.
// Plain JS without dependencies, because it runs before the installation.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackages } from './audit-packages.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const scratch = mkdtempSync(join(tmpdir(), 'cairn-ci-'));
const results = join(scratch, 'jest.json');

installBrowser();
const checked = project('check');
const packagesAreGood = checkPackages(root);
const tested = project('test', ['--ci', '--json', `--outputFile=${results}`]);
const { passed, failed } = counts();
rmSync(scratch, { recursive: true, force: true });

const broken = [
  ...(checked ? [] : ['npm run check']),
  ...(packagesAreGood ? [] : ['packages']),
  ...(tested ? [] : ['npm test']),
];
if (broken.length > 0) console.log(`failed: ${broken.join(', ')}`);
if (passed + failed === 0) console.log('no test ran');
console.log(`${passed} passed, ${failed} failed`);
process.exit(checked && packagesAreGood && tested && failed === 0 && passed > 0 ? 0 : 1);

/**
 * The console is tested in Debian's Chromium: in its headless shell, which takes less processor time, otherwise in the whole
 * browser. If neither can be installed, the tests of the console fail with advice.
 */
function installBrowser() {
  const isThere = (name) => existsSync(`/usr/bin/${name}`);
  if (process.env.CHROMIUM || isThere('chromium-headless-shell') || !isThere('apt-get')) return;
  console.log('installing Chromium for the tests of the console…');
  aptGet('update');
  if (aptGet('install', 'chromium-headless-shell', 'fonts-dejavu-core')) return;
  if (!['chromium', 'google-chrome'].some(isThere)) aptGet('install', 'chromium', 'fonts-dejavu-core');
}

/** True if it succeeded. */
function aptGet(command, ...packages) {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  // dpkg needs the folders of administrator commands.
  const PATH = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`;
  const env = { ...process.env, PATH, DEBIAN_FRONTEND: 'noninteractive' };
  const options = ['-qq', '-y', '--no-install-recommends'];
  const [program, ...args] = [...sudo, 'apt-get', command, ...options, ...packages];
  const { status } = spawnSync(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) console.log(`apt-get ${command} failed (${status})`);
  return status === 0;
}

/** Runs a command of the project, which installs what is missing. True if it succeeded. */
function project(command, args = []) {
  const argv = [join(root, 'scripts/run.mjs'), command, ...args];
  const { status } = spawnSync(process.execPath, argv, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0;
}

/** Number of tests by result. A file that did not run counts as one failure. */
function counts() {
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(results, 'utf8'),
    );
    return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
  } catch {
    // Jest wrote no results; its output has the reason.
    return { passed: 0, failed: 0 };
  }
}
