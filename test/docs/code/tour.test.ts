import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readDocument } from '../snippets.ts';

const CODE = join(import.meta.dirname, '../../../packages/cairn/src');
/** Most places that a reader can remember. */
const MAX_STOPS = 8;

const [, ...sections] = readDocument('docs/tour.md').split(/^## /m);
const tours = sections.map((section) => ({
  title: section.split('\n')[0] ?? '',
  stops: [...section.matchAll(/^\| (\d+) \| `([^`]+)` \| `(\w+)` \|/gm)].map(
    ([, at, file = '', name = '']) => ({
      at: Number(at),
      file,
      name,
    }),
  ),
}));

test('the tour follows five values', () => {
  expect(tours).toHaveLength(5);
});

describe.each(tours)('$title', ({ stops }) => {
  test(`has at most ${MAX_STOPS} stops, numbered without gaps`, () => {
    expect(stops.length).toBeGreaterThan(1);
    expect(stops.length).toBeLessThanOrEqual(MAX_STOPS);
    expect(stops.map(({ at }) => at)).toEqual(stops.map((_, index) => index + 1));
  });

  test.each(stops)('$file defines $name', ({ file, name }) => {
    expect(existsSync(join(CODE, file))).toBe(true);
    const text = readFileSync(join(CODE, file), 'utf8');
    const definition = new RegExp(`(function|class|const) ${name}\\b|^  (async )?${name}\\(`, 'm');
    expect(text).toMatch(definition);
  });
});
