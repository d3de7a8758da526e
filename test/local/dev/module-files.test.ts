import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { modulesBelow } from '../../../packages/local/src/dev/module-files.ts';

let folder: string | undefined;
afterEach(() => {
  if (folder) rmSync(folder, { recursive: true });
  folder = undefined;
});

function modulesOf(paths: readonly string[]): string[] {
  const root = mkdtempSync(join(tmpdir(), 'cairn-modules-'));
  folder = root;
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  return modulesBelow(root).map((path) => relative(root, path));
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
