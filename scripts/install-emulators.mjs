// Installs firebase-tools in the version of emulators/package.json, unless it is installed. Run by the commands that need it
// (scripts/run.mjs). Separate from the project's packages, because it is larger than all of them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../emulators');
const installed = join(folder, 'node_modules/firebase-tools/package.json');
const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const wanted = dependencies['firebase-tools'];
const isThere = existsSync(installed) && JSON.parse(readFileSync(installed, 'utf8')).version === wanted;
if (isThere || process.argv.includes('--help')) process.exit(0);

process.stderr.write(`cairn: installing firebase-tools ${wanted} (once; 340 MB, some minutes)…\n`);
const { status } = spawnSync('npm', ['install', '--no-save', '--loglevel=error', '--no-audit', '--no-fund'], {
  cwd: folder,
  stdio: ['ignore', 2, 2],
  shell: process.platform === 'win32',
});
if (status !== 0) {
  process.stderr.write('cairn: firebase-tools could not be installed; see the npm output above\n');
  process.exit(status ?? 1);
}
