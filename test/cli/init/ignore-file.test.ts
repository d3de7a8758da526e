/** Lines of `.gitignore` that a codebase needs. */
import { expect, test } from '@jest/globals';
import { missingLines } from '../../../packages/cli/src/init/ignore-file.ts';

const codebase = { name: 'cairn', isCompiled: true, hasTarball: true };
const STATE = '.cairn/';
const PACKAGES = 'cairn/node_modules/';
const BUILT = 'cairn/lib/';
const SECRETS = 'cairn/*.local';
const TARBALL = '!cairn/packages/*.tgz';
const ALL = [STATE, PACKAGES, BUILT, SECRETS, TARBALL];

test.each<[string, readonly string[]]>([
  ['', []],
  ['node_modules\nlib/\n*.local\n.cairn', [PACKAGES, BUILT, SECRETS, STATE]],
  ['**/node_modules/\r\n**/lib\r\n', [PACKAGES, BUILT]],
  ['/cairn/node_modules\n/cairn/lib/\n/.cairn\n', [PACKAGES, BUILT, STATE]],
  // Patterns of the folder itself, as in the templates of React and Next.js.
  ['/node_modules\n/lib/\n/*.local\n', []],
  ['functions/node_modules/\nfunctions/lib/\nfunctions/*.local\n', []],
  ['*.tgz\n', []],
  ['*.tgz\n!cairn/packages/*.tgz\n', [TARBALL]],
])('%j already has %j', (text, present) => {
  expect(missingLines(text, codebase)).toEqual(ALL.filter((line) => !present.includes(line)));
});
