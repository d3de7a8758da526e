/** Small values that refer to one object so often that their text would fill the memory. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toJsonText } from '../../../packages/cairn/src/core/encoding/json.ts';
import { lineOf } from '../../../packages/cairn/src/core/logs/line.ts';
import { MAX_PAYLOAD_BYTES } from '../../../packages/cairn/src/core/run/limits.ts';
import { messageOf } from '../../../packages/cairn/src/core/thrown.ts';
import { outputOf } from '../../../packages/cairn/src/engine/recording/output.ts';
import { jsonLog } from '../../../packages/cairn/src/platform/log.ts';

/** Each level refers twice to the next one, in an array or an object. */
type Levels = readonly ('array' | 'object')[];

const DEPTH = 18;
const levels: fc.Arbitrary<Levels> = fc.array(fc.constantFrom('array' as const, 'object' as const), {
  minLength: DEPTH,
  maxLength: DEPTH,
});

function doubled(leaf: unknown, shape: Levels): unknown {
  return shape.reduce((below, kind) => (kind === 'array' ? [below, below] : { a: below, b: below }), leaf);
}

/** Counts how often the innermost object is read. */
function counted(shape: Levels) {
  const reads = { leaf: 0 };
  const leaf = {
    get x() {
      reads.leaf += 1;
      return 1;
    },
  };
  return { reads, value: doubled(leaf, shape) };
}

describe('a value whose text would be much larger than itself', () => {
  test('is refused by its size', () => {
    // Two hundred million characters.
    const text = 'x'.repeat(1024);
    fc.assert(
      fc.property(levels, (shape) => {
        const value = doubled(text, shape);
        expect(() => toJsonText(value, 'value')).toThrow(
          expect.objectContaining({
            code: 'PAYLOAD_TOO_LARGE',
            message: `value has more than ${MAX_PAYLOAD_BYTES} bytes, the most there can be`,
          }),
        );
        expect(() => outputOf(value, 'output')).toThrow(
          expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }),
        );
      }),
      { numRuns: 10 },
    );
  });

  test.each<[string, number, (value: unknown) => unknown]>([
    [
      'the kept line of a log',
      10_000,
      (value) => lineOf(BY, { at: 1, level: 'info', message: 'x', fields: { value } }),
    ],
    ['a log of the process', 300_000, (value) => LOG.info('x', { value })],
    ['a message of what was thrown', 70_000, (value) => messageOf(value)],
  ])('is not read to its end for %s', (_, most, read) => {
    fc.assert(
      fc.property(levels, (shape) => {
        const { reads, value } = counted([...shape, 'object', 'array', 'object']);
        read(value);
        expect(reads.leaf).toBeLessThan(most);
      }),
      { numRuns: 5 },
    );
  });
});

const BY = { step: 'a', revision: 1, attempt: 1 };
const LOG = jsonLog({ least: () => 'DEBUG', write() {} });
