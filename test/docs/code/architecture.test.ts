import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readDocument } from '../snippets.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Folders of the files that the document names, without build results and packages. */
const PACKAGES = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`);
const FOLDERS = [
  'functions/src',
  ...PACKAGES.map((name) => `${name}/src`),
  'bench',
  'test',
  'docs',
  'scripts',
];
const files = [
  ...readdirSync(ROOT),
  ...['functions', ...PACKAGES].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  ),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  ),
];

const prose = readDocument('ARCHITECTURE.md').replace(/^```[\s\S]*?^```/gm, '');

/** Distinct matches of the pattern. */
function named(pattern: RegExp, text: string): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))];
}

/** The text of all code below a folder. */
function codeOf(folder: string): string {
  return files
    .filter((name) => name.startsWith(`${folder}/`) && name.endsWith('.ts'))
    .map((name) => readFileSync(join(ROOT, name), 'utf8'))
    .join('\n');
}

test('every file and folder that ARCHITECTURE.md names exists', () => {
  const paths = named(/`([\w./-]+\.(?:ts|json|md))`/g, prose);
  const folders = named(/`([a-z-]+(?:\/[a-z-]+)*)\/`/g, prose);
  expect(paths.length).toBeGreaterThan(40);
  expect(folders.length).toBeGreaterThan(5);
  const missing = [...paths, ...folders].filter(
    (name) => !files.some((file) => file === name || file.endsWith(`/${name}`)),
  );
  expect(missing).toEqual([]);
});

describe('each numbered invariant', () => {
  const numbers = named(/^\* \*\*([JE]\d+)\*\*/gm, prose);
  const code = codeOf('packages/cairn/src');
  const tests = codeOf('test');

  test('is one of a list without gaps', () => {
    const wanted = (letter: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);
    expect(numbers).toEqual([...wanted('J', 10), ...wanted('E', 9)]);
  });

  test.each(numbers)('%s is cited where it binds and where it is tested', (number) => {
    const cited = new RegExp(`\\b${number}\\b`);
    expect([cited.test(code), cited.test(tests)]).toEqual([true, true]);
  });
});
