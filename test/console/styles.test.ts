import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from '@jest/globals';

const SOURCE = join(import.meta.dirname, '../../packages/console/src');
const STATIC = /(?:from|import) '(\.[^']+)'/g;
const DYNAMIC = /import\('(\.[^']+)'\)/g;

const texts = new Map<string, string>();
function textOf(path: string): string {
  const text = texts.get(path) ?? readFileSync(path, 'utf8');
  texts.set(path, text);
  return text;
}
const named = (path: string, pattern: RegExp) =>
  [...textOf(path).matchAll(pattern)].map(([, to = '']) => join(dirname(path), to));

/** The file and all that is loaded with it. */
function loadedWith(path: string, found = new Set<string>()): Set<string> {
  if (!found.has(path)) {
    found.add(path);
    for (const next of named(path, STATIC)) loadedWith(next, found);
  }
  return found;
}

const isSheet = (path: string) => path.endsWith('.css');
const selectorsIn = (path: string) =>
  [...textOf(path).matchAll(/\.([a-z][a-z0-9-]*)/g)].map(([, name = '']) => name);
const classesIn = (path: string) =>
  [...textOf(path).matchAll(/className="([^"]+)"/g)].flatMap(([, names = '']) => names.split(' '));

const first = loadedWith(join(SOURCE, 'main.tsx'));
const later = [...first].flatMap((path) => named(path, DYNAMIC)).filter((path) => !isSheet(path));
const pages = later.map((path) => new Set([...first, ...loadedWith(path)]));
const styled = new Set(
  [...pages]
    .flatMap((files) => [...files])
    .filter(isSheet)
    .flatMap(selectorsIn),
);

test('each page loads the styles of the classes that it shows, whatever page was opened before', () => {
  expect(pages.length).toBeGreaterThan(4);
  expect(styled.size).toBeGreaterThan(100);
  const missing = pages.flatMap((files, at) => {
    const own = new Set([...files].filter(isSheet).flatMap(selectorsIn));
    return [...files]
      .flatMap(classesIn)
      .filter((name) => styled.has(name) && !own.has(name))
      .map((name) => `${relative(SOURCE, later[at] ?? '')}: ${name}`);
  });
  expect(missing).toEqual([]);
});

/** Selectors with their declarations, outside of at-rules. */
const rulesIn = (path: string) =>
  [...textOf(path).matchAll(/^([^\s@}/][^{}]*\{[^{}]*\})/gm)].map(([, rule = '']) =>
    rule.replace(/\s+/g, ' '),
  );

test('no rule is written twice', () => {
  const sheets = new Set([...pages].flatMap((files) => [...files]).filter(isSheet));
  const rules = [...sheets].flatMap(rulesIn);
  expect(rules.length).toBeGreaterThan(300);
  expect(rules.filter((rule, at) => rules.indexOf(rule) !== at)).toEqual([]);
});
