import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InstanceOperations } from '../../../packages/cairn/src/platform/diagnosis/instance-operations.ts';

test('the last minute covers what was billed in it, to the second, and the total covers everything', () => {
  const billed = fc.record({ reads: fc.nat(9), writes: fc.nat(9), deletes: fc.nat(9) });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 40_000 }), billed), { maxLength: 60 }),
      (moves) => {
        let now = 1_700_000_000_000;
        const operations = new InstanceOperations({ now: () => now });
        const began = now;
        const received: { second: number; reads: number; writes: number; deletes: number }[] = [];
        for (const [ms, one] of moves) {
          now += ms;
          operations.billed(one);
          received.push({ second: Math.floor(now / 1_000), ...one });
          const recent = received.filter(({ second }) => second > Math.floor(now / 1_000) - 60);
          const sum = (of: typeof received, name: 'reads' | 'writes' | 'deletes') =>
            of.reduce((all, { [name]: count }) => all + count, 0);
          const sums = (of: typeof received) => ({
            reads: sum(of, 'reads'),
            writes: sum(of, 'writes'),
            deletes: sum(of, 'deletes'),
          });
          expect(operations.lastMinute()).toEqual(sums(recent));
          expect(operations.total()).toEqual(sums(received));
        }
        expect(operations.since).toBe(began);
        now += 60_000;
        expect(operations.lastMinute()).toEqual({ reads: 0, writes: 0, deletes: 0 });
      },
    ),
    { numRuns: 50 },
  );
});
