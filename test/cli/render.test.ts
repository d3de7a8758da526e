import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PLAIN, styleFor } from '../../packages/cli/src/render/style.ts';
import { type Column, table } from '../../packages/cli/src/render/table.ts';
import { moment, offset } from '../../packages/cli/src/render/time.ts';
import { cells, clean, cutTo, wrap } from '../../packages/cli/src/render/width.ts';
import { costText } from '../../packages/cli/src/views/run-page.ts';
import { ago, duration, soFar } from '../../packages/client/src/duration.ts';

describe('times', () => {
  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [1_250, '1.3 s'],
    [61_000, '1 min 1 s'],
    [120_000, '2 min'],
    [3_600_000, '1 h'],
    [90_000_000, '1 d 1 h'],
    [-5, '0 ms'],
  ])('of %d ms are shown as %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  test.each([
    [0, '   +0.000s'],
    [59_999, '  +59.999s'],
    [62_500, '+1m 02.5s'],
    [7_380_000, '  +2h 03m'],
    [273_600_000, '  +3d 04h'],
  ])('of %d ms after the start are shown as %s', (ms, text) => {
    expect(offset(ms).trim()).toBe(text.trim());
    expect(offset(ms)).toHaveLength(10);
  });

  test('are shown relative to now, and in full', () => {
    const now = Date.parse('2026-01-31T08:30:00Z');
    expect(ago('2026-01-31T08:27:00Z', now)).toBe('3 min ago');
    expect(ago('2026-02-02T08:30:00Z', now)).toBe('in 2 d');
    expect(ago('2026-02-02T07:40:00Z', now)).toBe('in 1 d 23 h');
    expect(ago('2026-01-31T06:29:59Z', now)).toBe('2 h ago');
    expect(ago('2026-01-30T10:30:00Z', now)).toBe('22 h ago');
    expect(ago('2026-01-31T05:10:00Z', now)).toBe('3 h 20 min ago');
    expect(ago(undefined, now)).toBe('');
    expect(soFar('2026-01-31T06:00:00Z', now)).toBe('2 h 30 min so far');
    expect(soFar('2026-01-31T08:30:01Z', now)).toBe('0 ms so far');
    expect(moment('2026-01-31T08:30:00.123Z')).toBe('2026-01-31 08:30:00 UTC');
    expect(moment('soon')).toBe('soon');
  });
});

describe('text', () => {
  test('is measured in terminal cells', () => {
    expect(cells('abc')).toBe(3);
    expect(cells('日本')).toBe(4);
    expect(cells('é👍🏽')).toBe(3);
    expect(cells('\x1b[32mok\x1b[39m')).toBe(2);
  });

  test('is truncated with an ellipsis, and never wider than requested', () => {
    expect(cutTo('abcdef', 4)).toBe('abc…');
    expect(cutTo('日本語', 4)).toBe('日…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, most) => {
        expect(cells(cutTo(text, most))).toBeLessThanOrEqual(most);
      }),
    );
  });

  test('cannot contain terminal control sequences', () => {
    expect(clean('a\x1b[2Jb\nc\u202ed\x07')).toBe('a�[2Jb c�d�');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(clean(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });

  test('is wrapped at spaces', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('verylongword', 4)).toEqual(['verylongword']);
  });
});

describe('colours', () => {
  const terminal = { isTty: true, columns: 80, write: () => {} };

  test.each([
    ['a terminal', {}, true, false, true],
    ['a pipe', {}, false, false, false],
    ['NO_COLOR', { NO_COLOR: '1' }, true, false, false],
    ['an empty NO_COLOR', { NO_COLOR: '' }, true, false, true],
    ['a dumb terminal', { TERM: 'dumb' }, true, false, false],
    ['--no-color', {}, true, true, false],
  ] as const)('%s', (_, env, isTty, refused, coloured) => {
    const painted = styleFor({ ...terminal, isTty }, { env }, refused).paint('good', 'ok');
    expect(painted).toBe(coloured ? '\x1b[32mok\x1b[39m' : 'ok');
  });
});

describe('a table', () => {
  interface Row {
    readonly id: string;
    readonly what: string;
    readonly extra: string;
  }
  const columns: readonly Column<Row>[] = [
    { title: 'ID', of: ({ id }) => id },
    { title: 'WHAT', of: ({ what }) => what, least: 5 },
    { title: 'EXTRA', of: ({ extra }) => extra, dropOrder: 1 },
    { title: 'EMPTY', of: () => '' },
  ];
  const rows = [
    { id: 'a1', what: 'a rather long description', extra: 'x' },
    { id: 'b2', what: 'short', extra: 'yy' },
  ];

  test('is as wide as its content by default, and omits empty columns', () => {
    expect(table(rows, columns, { style: PLAIN, columns: undefined })).toBe(
      'ID  WHAT                       EXTRA\na1  a rather long description  x\nb2  short                      yy\n',
    );
  });

  test('first cuts columns, then drops optional ones', () => {
    expect(table(rows, columns, { style: PLAIN, columns: 20 })).toBe(
      'ID  WHAT       EXTRA\na1  a rather…  x\nb2  short      yy\n',
    );
    expect(table(rows, columns, { style: PLAIN, columns: 14 })).toBe('ID  WHAT\na1  a rather…\nb2  short\n');
  });

  test('never wraps a line, and fits if its minimum widths do', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ id: fc.constant('id'), what: fc.string({ unit: 'binary' }), extra: fc.string() }),
          { minLength: 1 },
        ),
        fc.integer({ min: 9, max: 60 }),
        (some, width) => {
          const lines = table(some, columns, { style: PLAIN, columns: width }).trimEnd().split('\n');
          expect(lines).toHaveLength(some.length + 1);
          for (const line of lines) expect(cells(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  test('without rows is empty', () => {
    expect(table([], columns, { style: PLAIN, columns: 80 })).toBe('');
  });
});

describe('what a run has cost', () => {
  const none = { reads: 0, writes: 0, deletes: 0, tasks: 0, usd: 0 };

  test.each([
    [none, '0 writes, 0 reads · about $0'],
    [
      { ...none, reads: 1, writes: 39, tasks: 1, usd: 0.0000362 },
      '39 writes, 1 read, 1 task · about $0.000036',
    ],
    [
      { ...none, reads: 2, writes: 1, deletes: 1, usd: 0.0000016 },
      '1 write, 2 reads, 1 delete · about $0.0000016',
    ],
    [{ ...none, writes: 2_000_000, tasks: 12, usd: 1.8 }, '2000000 writes, 0 reads, 12 tasks · about $1.80'],
  ])('%j is shown as %s', (cost, text) => {
    expect(costText(cost)).toBe(text);
  });
});
