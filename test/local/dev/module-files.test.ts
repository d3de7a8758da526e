import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { modulesBelow } from '../../../packages/local/src/dev/module-files.ts';

let folder: string | undefined;
afterEach(() => {
  if (folder) rmSync(folder, { recursive: true });
  folder = undefined;
});

/** @param unreadable a folder */
function modulesOf(paths: readonly string[], unreadable?: string): string[] {
  const root = mkdtempSync(join(tmpdir(), 'cairn-modules-'));
  folder = root;
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  const list = (below: string) => {
    if (relative(root, below) === unreadable)
      throw new Error(`EACCES: permission denied, scandir '${below}'`);
    return readdirSync(below, { withFileTypes: true });
  };
  return modulesBelow(root, list).map((path) => relative(root, path));
}

test('the modules of a codebase are those that its functions can load, without installed ones', () => {
  const own = ['index.js', 'src/workflows/order.mjs', 'lib/a.cjs'];
  const others = ['node_modules/zod/index.js', '.git/hook.js', 'src/order.ts', 'package.json', 'README.md'];
  expect(modulesOf([...others, ...own]).sort()).toEqual([...own].sort());
});

test('of many modules those nearest to the codebase are listed', () => {
  const many = Array.from({ length: 120 }, (_, i) => `deep/er/module-${i}.js`);
  const listed = modulesOf([...many, 'index.js', 'deep/b.js']);
  expect(listed).toHaveLength(100);
  expect(listed.slice(0, 2)).toEqual(['index.js', 'deep/b.js']);
});

test.each([
  ['', []],
  ['src', ['index.js', 'lib/a.js']],
  ['src/deep', ['index.js', 'lib/a.js', 'src/b.js']],
])("a folder that cannot be read ('%s') is left out", (unreadable, expected) => {
  const paths = ['index.js', 'lib/a.js', 'src/b.js', 'src/deep/c.js'];
  expect(modulesOf(paths, unreadable)).toEqual(expected);
});

test('a folder that is gone has no modules', () => {
  expect(modulesBelow(join(tmpdir(), 'cairn-modules-gone'))).toEqual([]);
});
