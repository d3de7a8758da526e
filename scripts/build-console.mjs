// Builds the console into packages/console/dist, unless it was already built from the same sources. Plain JS, because it runs
// before every start.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'packages/console/dist/.built-of');
const wanted = sourcesHash();
if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) process.exit(0);

process.stderr.write('cairn: building the console (once)…\n');
// Vite empties the folder first, so that a failed build does not leave the old console.
const vite = join(root, 'node_modules/vite/bin/vite.js');
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [vite, 'build', '--logLevel', 'warn', join(root, 'packages/console')],
  // Another NODE_ENV, such as that of a test, would select React's development build.
  { cwd: root, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
);
if (status !== 0) {
  process.stderr.write(`${stdout}${stderr}cairn: the console could not be built; see the output above\n`);
  process.exit(status ?? 1);
}
writeFileSync(stamp, wanted);

/** Hash of all inputs: the sources (without the API's types) and the versions of the libraries. */
function sourcesHash() {
  const folders = ['console/src', 'console/public', 'client/src'].flatMap((folder) =>
    filesUnder(join(root, 'packages', folder)),
  );
  const named = ['packages/console/index.html', 'packages/console/vite.config.ts', 'package-lock.json'];
  const hash = createHash('sha256');
  for (const file of [...named.map((name) => join(root, name)), ...folders])
    hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest('hex');
}

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
