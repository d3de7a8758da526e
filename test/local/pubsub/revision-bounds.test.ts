import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  boundsWithout,
  type RevisionBound,
  withinBounds,
} from '../../../packages/local-pubsub/src/model/revision-bounds.ts';

interface Bounds {
  readonly firstRevision: RevisionBound | undefined;
  readonly lastRevision: RevisionBound | undefined;
}

const bound = fc.option(fc.nat(3), { nil: undefined });
const step = fc.oneof(fc.constant('commit' as const), fc.nat(9));

test('a topic allows the revisions from its first to its last one, whichever of them are deleted', () => {
  fc.assert(
    fc.property(bound, bound, fc.array(step, { maxLength: 12 }), (first, last, steps) => {
      let numbers = [0, 1, 2, 3];
      let next = numbers.length;
      let bounds: Bounds = { firstRevision: first?.toString(), lastRevision: last?.toString() };
      for (const each of steps) {
        if (each === 'commit') numbers.push(next++);
        else if (numbers.length > 1) {
          const at = each % numbers.length;
          bounds = boundsWithout(bounds, {
            revision: String(numbers[at]),
            previous: numbers[at - 1]?.toString(),
          });
          numbers = numbers.toSpliced(at, 1);
        }
        const allowed = withinBounds(
          numbers.map((number) => ({ revision: String(number) })),
          bounds,
        );
        const expected = numbers.filter((number) => number >= (first ?? 0) && number <= (last ?? next));
        expect(allowed.map(({ revision }) => Number(revision))).toEqual(expected);
      }
    }),
  );
});
