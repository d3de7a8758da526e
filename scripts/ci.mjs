// Runs the checks, then all tests, then prints one closing line with the results. `.ci/run` calls it once Node is installed.
// Plain JS without dependencies, for it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackages } from './packages.mjs';

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

/** The console is tested in Debian's Chromium. Where it cannot be installed, its tests fail and say what they need. */
function installBrowser() {
  if (process.env.CHROMIUM || ['chromium', 'google-chrome'].some((name) => existsSync(`/usr/bin/${name}`)))
    return;
  if (!existsSync('/usr/bin/apt-get')) return;
  console.log('installing Chromium for the tests of the console…');
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  // dpkg needs what is for administrators, whoever began this.
  const PATH = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`;
  const env = { ...process.env, PATH, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'];
  for (const words of [['update'], install]) {
    const [command, ...args] = [...sudo, 'apt-get', '-qq', ...words];
    const { status } = spawnSync(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) console.log(`apt-get ${words[0]} failed (${status})`);
  }
}

/** One of the project's commands; it installs what is missing. True if it succeeded. */
function project(command, args = []) {
  const argv = [join(root, 'scripts/run.mjs'), command, ...args];
  const { status } = spawnSync(process.execPath, argv, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0;
}

/** Tests by result. A file that could not be run at all counts as one failure. */
function counts() {
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(results, 'utf8'),
    );
    return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
  } catch {
    // No results: Jest did not get that far, and its own output says why.
    return { passed: 0, failed: 0 };
  }
}
