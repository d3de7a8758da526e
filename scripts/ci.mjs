// What `.ci/run` does once there is a Node: the checks, then all tests, then one closing line with what they came to.
// Plain JS without dependencies, for it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const scratch = mkdtempSync(join(tmpdir(), 'cairn-ci-'));
const results = join(scratch, 'jest.json');

const checked = project('check');
const tested = project('test', ['--ci', '--json', `--outputFile=${results}`]);
const { passed, failed } = counts();
rmSync(scratch, { recursive: true, force: true });

const broken = [...(checked ? [] : ['npm run check']), ...(tested ? [] : ['npm test'])];
if (broken.length > 0) console.log(`failed: ${broken.join(', ')}`);
if (passed + failed === 0) console.log('no test ran');
console.log(`${passed} passed, ${failed} failed`);
process.exit(checked && tested && failed === 0 && passed > 0 ? 0 : 1);

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
