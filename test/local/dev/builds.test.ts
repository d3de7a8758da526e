import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Builds } from '../../../packages/local/src/dev/builds.ts';
import { Children } from '../../../packages/local/src/dev/children.ts';
import type { DevCodebase } from '../../../packages/local/src/dev/project.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-builds-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A watching build like `tsc --watch`: clears the screen, prints a line, writes its module and keeps running. */
const WATCHING = String.raw`
process.stdout.write('\x1b[2J\x1b[3J\x1b[HFound 0 errors.\n');
require('node:fs').writeFileSync('index.js', '');
setInterval(() => {}, 1_000);
`;

function codebaseWith(script: 'build' | 'build:watch'): DevCodebase {
  return {
    name: 'shop',
    prefix: '',
    folder,
    settings: folder,
    env: {},
    module: join(folder, 'index.js'),
    linked: [],
    dependencies: [],
    hasCairn: false,
    build: { output: 'lib', outDir: 'lib', rootDir: 'src', emitsBeside: false, script },
    isChecked: false,
  };
}

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
    pause: (ms) => setTimeout(ms),
  });
  const codebase = codebaseWith('build:watch');
  await builds.start(codebase);
  await children.stop();
  expect(told).toEqual([['shop build', 'INFO', 'Found 0 errors.']]);
});

test.each([
  ['once more after a quiet time, with its last edit', false],
  ['after the next edit, and then not once more', true],
])('a codebase whose file is saved in three builds in a row is built %s', async (_, isEdited) => {
  const codebase = codebaseWith('build');
  const source = [join(folder, 'src/index.ts')];
  let began = 0;
  const later: Promise<void>[] = [];
  const change = () => later.push(builds.change(codebase, source));
  const builds = new Builds({
    children: {
      isStopping: false,
      run() {
        began += 1;
        if (began <= 3) change();
        return Promise.resolve(0);
      },
    },
    root: folder,
    env: {},
    log: () => {},
    pause(ms) {
      if (ms > 1_000 && isEdited && began === 3) change();
      return Promise.resolve();
    },
  });
  await builds.change(codebase, source);
  await Promise.all(later);
  expect(began).toBe(4);
});

test.each([
  [1, 'Its script "build" failed: correct what it reports above, then run cairn dev again.'],
  [0, 'Its script "build" does not write it.'],
])(
  'a codebase without its module after a build that ends with %i is refused with the reason',
  async (code, help) => {
    const builds = new Builds({
      children: { isStopping: false, run: () => Promise.resolve(code) },
      root: folder,
      env: {},
      log: () => {},
      pause: () => Promise.resolve(),
    });
    await expect(builds.start(codebaseWith('build'))).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      help,
    });
  },
);
