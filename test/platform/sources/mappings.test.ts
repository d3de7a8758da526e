import { SourceMap } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { originalPosition } from '../../../packages/cairn/src/platform/sources/mappings.ts';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function vlq(change: number): string {
  let rest = change < 0 ? -change * 2 + 1 : change * 2;
  let text = '';
  do {
    const more = rest >= 32 ? 32 : 0;
    text += DIGITS[(rest % 32) + more];
    rest = Math.floor(rest / 32);
  } while (rest > 0);
  return text;
}

interface Segment {
  readonly column: number;
  readonly source: number;
  readonly line: number;
  readonly at: number;
  readonly name?: number | undefined;
}

/** Mappings of lines of segments with ascending generated columns. */
function encoded(lines: readonly (readonly Segment[])[]): string {
  const before = { source: 0, line: 0, at: 0, name: 0 };
  return lines
    .map((segments) => {
      let column = 0;
      return segments
        .map((segment) => {
          const fields = [
            segment.column - column,
            segment.source - before.source,
            segment.line - before.line,
            segment.at - before.at,
            ...(segment.name === undefined ? [] : [segment.name - before.name]),
          ];
          column = segment.column;
          Object.assign(before, segment, segment.name === undefined ? { name: before.name } : {});
          return fields.map(vlq).join('');
        })
        .join(',');
    })
    .join(';');
}

const segment = fc.record({
  column: fc.nat(2_000),
  source: fc.nat(2),
  line: fc.nat(70_000),
  at: fc.nat(500),
  name: fc.option(fc.nat(2), { nil: undefined }),
});
const line = fc
  .uniqueArray(segment, { maxLength: 12, selector: ({ column }) => column })
  .map((segments) => segments.toSorted((a, b) => a.column - b.column));

describe('a position of generated code', () => {
  test('has the origin that the runtime finds for it', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.record({ line: fc.integer({ min: 1, max: 9 }), column: fc.integer({ min: 1, max: 2_200 }) }),
        (lines, position) => {
          const mappings = encoded(lines);
          const sources = ['a.ts', 'b.ts', 'c.ts'];
          const map = new SourceMap({
            file: 'x.js',
            version: 3,
            sources,
            sourcesContent: [],
            names: ['p', 'q', 'r'],
            mappings,
            sourceRoot: '',
          });
          const found = originalPosition(mappings, position);
          const entry = map.findEntry(position.line - 1, position.column - 1);
          // For a line without segments the runtime returns a segment of an earlier line.
          const isOfLine = 'generatedLine' in entry && entry.generatedLine === position.line - 1;
          expect(found && [sources[found.source], found.line, found.column]).toEqual(
            isOfLine ? [entry.originalSource, entry.originalLine + 1, entry.originalColumn + 1] : undefined,
          );
        },
      ),
    );
  });

  test('has no origin in code without a source', () => {
    expect(originalPosition('A', { line: 1, column: 5 })).toBeUndefined();
    expect(originalPosition('', { line: 1, column: 1 })).toBeUndefined();
    expect(originalPosition('AAAA', { line: 7, column: 1 })).toBeUndefined();
  });

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(5), fc.nat(50), (text, l, column) => {
        const origin = originalPosition(text, { line: l, column });
        expect(origin === undefined || Number.isFinite(origin.line)).toBe(true);
      }),
    );
  });
});
