// Builds the bundle of installation and engine in functions/lib that `firebase deploy` uploads. The platform installs the
// packages of Google, Firebase and OpenTelemetry from functions/package.json. Optional argument: another output folder.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, installedOf, readJson } from './bundle.mjs';

const functions = join(dirname(fileURLToPath(import.meta.url)), '../functions');
await bundle({
  input: join(functions, 'src/index.ts'),
  installed: installedOf(Object.keys(readJson(join(functions, 'package.json')).dependencies)),
  lib: resolve(process.argv[2] ?? join(functions, 'lib')),
});
