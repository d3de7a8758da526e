import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mayTakePlace } from '../../packages/cairn/src/core/fair-share.ts';

/** Users in turn; each takes as many places as allowed. */
function takenInTurn(all: number, users: number): number[] {
  const taken: number[] = [];
  for (let user = 0; user < users; user += 1) {
    const others = taken.reduce((sum, one) => sum + one, 0);
    let own = 0;
    while (mayTakePlace({ all, own, others })) own += 1;
    taken.push(own);
  }
  return taken;
}

describe('a share of places', () => {
  test.each([
    { all: 4, each: [3, 1, 0] },
    { all: 3, each: [2, 1, 0] },
    { all: 2, each: [1, 1, 0] },
    { all: 1, each: [1, 0] },
    { all: 160, each: [120, 30, 7, 2, 1, 0] },
  ])('of $all, users that take all they may have $each', ({ all, each }) => {
    expect(takenInTurn(all, each.length)).toEqual(each);
  });

  test('leaves a place for the next user and never exceeds the total', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10_000 }), fc.integer({ min: 1, max: 20 }), (all, users) => {
        const taken = takenInTurn(all, users);
        expect(taken[1] ?? 1).toBeGreaterThan(0);
        expect(taken.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(all);
      }),
    );
  });

  test('does not grow when others take more', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(500), fc.nat(500), (all, own, others) => {
        if (mayTakePlace({ all, own, others: others + 1 }))
          expect(mayTakePlace({ all, own, others })).toBe(true);
      }),
    );
  });
});
