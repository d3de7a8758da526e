import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Sections } from '../../../packages/console/src/pages/runs/list/sections.ts';
import { byAge, type RunRow } from '../../../packages/console/src/pages/runs/row.ts';
import { rowNumber } from './support/summaries.ts';

const rows = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, i) => rowNumber(from - i)).sort(byAge);

test('pages that are not in memory keep their position', () => {
  const sections = new Sections([
    { rows: rows(99, 90), count: 0 },
    { rows: undefined, count: 10 },
    { rows: rows(79, 70), count: 0 },
    { rows: undefined, count: 1 },
  ]);
  expect(sections.total).toBe(31);
  expect(sections.at(9)?.id).toBe(rowNumber(90).id);
  expect(sections.at(10)).toBeUndefined();
  expect(sections.at(20)?.id).toBe(rowNumber(79).id);
  expect(sections.at(31)).toBeUndefined();
  expect([0, 9, 10, 19, 20, 30, 99].map((index) => sections.sectionAt(index))).toEqual([0, 0, 1, 1, 2, 3, 3]);
  expect(sections.between(21, 8).map(({ id }) => id)).toEqual([91, 90, 79, 78].map((n) => rowNumber(n).id));
  expect(sections.indexOf(rowNumber(70).id)).toBe(29);
  expect(sections.indexOf(rowNumber(85).id)).toBe(-1);
});

test('overlapping pages show no run twice', () => {
  const sections = new Sections([
    { rows: rows(99, 85), count: 0 },
    { rows: rows(89, 80), count: 10 },
  ]);
  expect(sections.total).toBe(20);
  expect(sections.at(15)?.id).toBe(rowNumber(84).id);
});

test('an empty page takes no space', () => {
  const sections = new Sections([
    { rows: [], count: 0 },
    { rows: rows(5, 4), count: 1 },
  ]);
  expect(sections.sectionAt(0)).toBe(1);
  expect(sections.total).toBe(2);
  expect(new Sections([]).total).toBe(0);
});

test('each row in memory has one index, by which and by its id it is found', () => {
  const page = fc.record({ from: fc.integer({ min: -3, max: 12 }), isHere: fc.boolean() });
  fc.assert(
    fc.property(fc.array(page, { maxLength: 6 }), (pages) => {
      let next = 200;
      const sections = new Sections(
        pages.map(({ from, isHere }) => {
          const own: RunRow[] = rows(next + 2, next - Math.abs(from));
          next -= Math.abs(from);
          return isHere ? { rows: own, count: 1 } : { rows: undefined, count: own.length };
        }),
      );
      const seen = new Set<string>();
      for (let index = 0; index < sections.total; index += 1) {
        const row = sections.at(index);
        if (!row) continue;
        expect(seen.has(row.id)).toBe(false);
        seen.add(row.id);
        expect(sections.indexOf(row.id)).toBe(index);
      }
    }),
  );
});
