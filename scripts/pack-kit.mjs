// Stages the function kit for publication. Its bundle contains the engine, because on the public registry `cairn` is another
// project. `npm-shrinkwrap.json` has the versions that `firebase deploy` of this repository is tested with.
import { cpSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, installedOf, readJson } from './bundle.mjs';
import { lockOf } from './shrinkwrap.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Writes everything except the console, the README and the licence.
 *
 * @param name folder in packages/
 * @param types folder of compiled declarations
 * @param target folder that is packed
 * @returns the manifest
 */
export async function stageKit({ name, types, target }) {
  const source = join(root, 'packages', name);
  const { cairn: _engine, ...own } = readJson(join(source, 'package.json')).dependencies;
  const engine = readJson(join(root, 'packages/cairn/package.json')).dependencies;
  const manifest = readJson(join(source, 'package.json'));
  const wanted = { ...engine, ...own };
  const dependencies = Object.fromEntries(installedOf(Object.keys(wanted)).map((one) => [one, wanted[one]]));
  const published = {
    ...manifest,
    main: './lib/index.js',
    types: './lib/index.d.ts',
    exports: {
      '.': { types: './lib/index.d.ts', default: './lib/index.js' },
      './package.json': './package.json',
    },
    dependencies,
  };
  await bundle({
    input: join(source, 'src/index.ts'),
    installed: [...Object.keys(dependencies), ...Object.keys(manifest.peerDependencies)],
    lib: join(target, 'lib'),
  });
  cpSync(join(types, 'index.d.ts'), join(target, 'lib/index.d.ts'));
  const lock = lockOf(published, readJson(join(root, 'functions/package-lock.json')));
  writeFileSync(join(target, 'npm-shrinkwrap.json'), `${JSON.stringify(lock, null, 2)}\n`);
  return published;
}
