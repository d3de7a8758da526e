// Builds what `firebase deploy` uploads: the installation and the engine as one bundle in functions/lib. Google's, Firebase's and
// OpenTelemetry's packages of functions/package.json are installed by the platform. An argument names another folder for the result.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, installedOf, readJson } from './bundle.mjs';

const functions = join(dirname(fileURLToPath(import.meta.url)), '../functions');
await bundle({
  input: join(functions, 'src/index.ts'),
  installed: installedOf(Object.keys(readJson(join(functions, 'package.json')).dependencies)),
  lib: resolve(process.argv[2] ?? join(functions, 'lib')),
});
