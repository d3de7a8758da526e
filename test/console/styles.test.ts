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

/** Returns the file with all its static imports. */
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

test('each page loads the styles of its classes itself, without relying on an earlier page', () => {
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

const sheets = [...new Set([...pages].flatMap((files) => [...files]).filter(isSheet))];
/** Steps of a graph are drawn in px, and a script scales them with the text. */
const DRAWN = /\.step-/;
/** Greatest width of borders, shadows and decoration that need not scale with the text. */
const HAIRLINE_PX = 2;
const OF_TEXT = /^(font|line-height|padding|margin|gap|row-gap|width|height|(min|max)-(width|height))/;

/** Lists the declarations and media conditions that do not scale with the browser's font. */
function fixedIn(path: string): readonly string[] {
  const text = textOf(path).replace(/\/\*[\s\S]*?\*\//g, '');
  const declared = [...text.matchAll(/([^{};]*)\{([^{}]*)\}/g)]
    .filter(([, selector = '']) => !DRAWN.test(selector))
    .flatMap(([, , body = '']) => body.split(';').map((one) => one.trim()))
    .filter((one) => OF_TEXT.test(one));
  const asked = [...text.matchAll(/@media([^{]*)/g)].map(([, condition = '']) => condition.trim());
  const px = (one: string) => [...one.matchAll(/([\d.]+)px/g)].map(([, value]) => Number(value));
  return [...declared, ...asked].filter((one) => px(one).some((value) => value > HAIRLINE_PX));
}

test('text and the space around it scale with the font size of the browser', () => {
  expect(sheets.length).toBeGreaterThan(15);
  for (const path of [...sheets, join(SOURCE, '../public/404.css')])
    expect([relative(SOURCE, path), fixedIn(path)]).toEqual([relative(SOURCE, path), []]);
});

/** Lists the rules outside of at-rules. */
const rulesIn = (path: string) =>
  [...textOf(path).matchAll(/^([^\s@}/][^{}]*\{[^{}]*\})/gm)].map(([, rule = '']) =>
    rule.replace(/\s+/g, ' '),
  );

test('no rule is written twice', () => {
  const rules = sheets.flatMap(rulesIn);
  expect(rules.length).toBeGreaterThan(300);
  expect(rules.filter((rule, at) => rules.indexOf(rule) !== at)).toEqual([]);
});

/** Lists the properties that a selector declares twice, outside of at-rules. */
function declaredTwiceIn(path: string): readonly string[] {
  const found = rulesIn(path).flatMap((rule) => {
    const [selectors = '', body = ''] = rule.replace(/\/\*.*?\*\//g, '').split('{');
    const properties = [...body.matchAll(/(?:^|;)\s*([a-z-]+):/g)].map(([, property]) => property);
    return selectors
      .split(/,(?![^(]*\))/)
      .flatMap((selector) => properties.map((property) => `${selector.trim()} ${property}`));
  });
  return found.filter((one, at) => found.indexOf(one) < at);
}

test('no sheet declares a property of a selector twice', () => {
  expect(
    sheets.flatMap((path) => declaredTwiceIn(path).map((one) => `${relative(SOURCE, path)}: ${one}`)),
  ).toEqual([]);
});
