import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const SOURCE = join(import.meta.dirname, '../../packages/console/src');
const read = (path: string) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') });
const sheets = globSync('**/*.css', { cwd: SOURCE }).map(read);
const parts = globSync('**/*.tsx', { cwd: SOURCE }).map(read);

/** The page that loads the file; undefined: every page may show it. */
const pageOf = (path: string) => /^pages\/[^/]+/.exec(path)?.[0];
const classesIn = ({ text }: { readonly text: string }) => [...text.matchAll(/\.([a-z][a-z0-9-]*)/g)];

test('a part that another page shows has no class of a page, whose styles may not be loaded', () => {
  const homes = new Map<string, Set<string | undefined>>();
  for (const sheet of sheets)
    for (const [, name = ''] of classesIn(sheet))
      homes.set(name, (homes.get(name) ?? new Set()).add(pageOf(sheet.path)));
  const foreign = parts.flatMap(({ path, text }) =>
    [...text.matchAll(/className="([^"]+)"/g)]
      .flatMap(([, names = '']) => names.split(' '))
      .filter((name) => {
        const home = homes.get(name);
        return home !== undefined && !home.has(undefined) && !home.has(pageOf(path));
      })
      .map((name) => `${path}: ${name}`),
  );
  expect(homes.size).toBeGreaterThan(100);
  expect(foreign).toEqual([]);
});
