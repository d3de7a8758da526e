// `npm run check`: all static checks of the sources. All checks run even if one fails, so that one call reports all problems.
// Exit code 1 if one failed.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const module = (path) => join(root, 'node_modules', path);
const jest = [
  '--disable-warning=ExperimentalWarning',
  '--experimental-vm-modules',
  module('jest/bin/jest.js'),
];
// By default, Biome writes colours into a log file too.
const colors = `--colors=${process.stdout.isTTY ? 'force' : 'off'}`;

/** An incremental type check. */
const types = (project, name) => [
  module('typescript/bin/tsc'),
  ...['-p', join(root, project), '--noEmit', '--incremental'],
  ...['--tsBuildInfoFile', module(`.cache/cairn-types/${name}.tsbuildinfo`)],
];

const checks = [
  ['format and lint', [module('@biomejs/biome/bin/biome'), 'ci', '--error-on-warnings', colors, '.']],
  ['types', types('.', 'all')],
  ['types of the console', types('packages/console', 'console')],
  // The files are listed in eslint.config.mjs.
  ['code of flows', ['--disable-warning=ExperimentalWarning', module('eslint/bin/eslint.js'), '.']],
  ['architecture', [...jest, 'test/architecture.test.ts']],
];

const failed = [];
for (const [name, argv] of checks) {
  console.log(`\n── ${name}`);
  const { status } = spawnSync(process.execPath, argv, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? '\ncheck: all good' : `\ncheck: failed: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);
