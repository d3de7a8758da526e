import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Builds } from '../../../packages/local/src/dev/builds.ts';
import { Children } from '../../../packages/local/src/dev/children.ts';
import type { DevCodebase } from '../../../packages/local/src/dev/project.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-builds-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A build that watches, as `tsc --watch` does: it clears the screen, says something, writes its module and stays. */
const WATCHING = String.raw`
process.stdout.write('\x1b[2J\x1b[3J\x1b[HFound 0 errors.\n');
require('node:fs').writeFileSync('index.js', '');
setInterval(() => {}, 1_000);
`;

test('a watching build does not clear the screen, and stopping it is no failure', async () => {
  writeFileSync(join(folder, 'watch.cjs'), WATCHING);
  writeFileSync(join(folder, 'package.json'), '{"scripts":{"build:watch":"node watch.cjs"}}');
  const told: unknown[] = [];
  const children = new Children();
  const builds = new Builds({
    children,
    root: folder,
    env: process.env,
    log: (...line) => told.push(line),
  });
  const codebase: DevCodebase = {
    name: 'shop',
    prefix: '',
    folder,
    settings: folder,
    env: {},
    module: join(folder, 'index.js'),
    linked: [],
    dependencies: [],
    hasCairn: false,
    build: { output: 'lib', outDir: 'lib', rootDir: 'src', emitsBeside: false, script: 'build:watch' },
    isChecked: false,
  };
  await builds.start(codebase);
  await children.stop();
  expect(told).toEqual([['shop build', 'INFO', 'Found 0 errors.']]);
});
