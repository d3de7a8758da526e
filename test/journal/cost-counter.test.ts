import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Cost, fullCost, sum } from '../../packages/cairn/src/core/cost/cost.ts';
import { usdOf } from '../../packages/cairn/src/core/cost/prices.ts';
import { CostCounter } from '../../packages/cairn/src/journal/cost/cost-counter.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';

/** Result of a send. The first two were applied. */
type Sent = 'applied' | 'lost after' | 'lost before' | 'refused';

/** A snapshot to which amounts are added. */
class Document {
  cost: Cost = {};
  readonly #applied = new Set<string>();

  carry(counter: CostCounter, key: string, how: Sent): Promise<string> {
    return counter.carry({
      key,
      own: { writes: 1 },
      send: async (carried) => {
        if (how === 'lost before') throw new OutcomeUnknown('test', undefined);
        // A repeated write is refused: its precondition no longer holds.
        if (how === 'refused' || this.#applied.has(key)) return 'refused';
        this.#applied.add(key);
        this.cost = sum(this.cost, carried);
        if (how === 'lost after') throw new OutcomeUnknown('test', undefined);
        return 'applied';
      },
      isApplied: (result) => result === 'applied',
    });
  }
}

describe('the cost of a run', () => {
  test('is recorded by the next write once, including that write', async () => {
    const document = new Document();
    const counter = new CostCounter({ tasks: 1 });
    counter.add({ reads: 2 });
    await document.carry(counter, 'a', 'applied');
    expect(document.cost).toEqual({ reads: 2, writes: 1, tasks: 1 });
    await document.carry(counter, 'b', 'applied');
    expect(document.cost).toEqual({ reads: 2, writes: 2, tasks: 1 });
  });

  test('is kept for the next write if one is refused, which is billed nothing', async () => {
    const document = new Document();
    const counter = new CostCounter({ reads: 3 });
    await document.carry(counter, 'a', 'refused');
    counter.add({ reads: 1 });
    await document.carry(counter, 'b', 'applied');
    expect(document.cost).toEqual({ reads: 4, writes: 1 });
  });

  test.each<Sent>(['lost after', 'lost before'])(
    'is recorded once although an answer was %s',
    async (how) => {
      const document = new Document();
      const counter = new CostCounter({ reads: 3 });
      await expect(document.carry(counter, 'a', how)).rejects.toThrow(OutcomeUnknown);
      counter.add({ reads: 1 });
      await document.carry(counter, 'a', 'applied');
      await document.carry(counter, 'b', 'applied');
      expect(document.cost).toEqual({ reads: 4, writes: 2 });
    },
  );

  test('is kept if a write fails permanently', async () => {
    const counter = new CostCounter({ reads: 3 });
    const fail = () => Promise.reject(new Error('down'));
    await expect(
      counter.carry({ key: 'a', own: { writes: 1 }, send: fail, isApplied: () => true }),
    ).rejects.toThrow('down');
    const document = new Document();
    await document.carry(counter, 'b', 'applied');
    expect(document.cost).toEqual({ reads: 3, writes: 1 });
  });

  const sendings = fc.array(
    fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      how: fc.constantFrom<Sent>('applied', 'lost after', 'lost before', 'refused'),
      reads: fc.nat({ max: 3 }),
    }),
    { maxLength: 30 },
  );

  test('is never reported too high and never decreases, whatever is lost or refused', async () => {
    await fc.assert(
      fc.asyncProperty(sendings, async (all) => {
        const document = new Document();
        const counter = new CostCounter();
        let reads = 0;
        for (const one of all) {
          reads += one.reads;
          counter.add({ reads: one.reads });
          const before = fullCost(document.cost);
          await document.carry(counter, one.key, one.how).catch(() => {});
          const after = fullCost(document.cost);
          expect(after.reads).toBeGreaterThanOrEqual(before.reads);
          expect(after.reads).toBeLessThanOrEqual(reads);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('is complete when no outcome is unknown', async () => {
    const settled = sendings.map((all) => all.map((one, i) => ({ ...one, key: `${i}` })));
    await fc.assert(
      fc.asyncProperty(settled, async (all) => {
        const document = new Document();
        const counter = new CostCounter();
        let reads = 0;
        for (const one of all) {
          reads += one.reads;
          counter.add({ reads: one.reads });
          // The write is sent again until its outcome is known, as the journal does.
          await document
            .carry(counter, one.key, one.how)
            .catch(() => document.carry(counter, one.key, 'applied'));
        }
        await document.carry(counter, 'last', 'applied');
        expect(fullCost(document.cost).reads).toBe(reads);
      }),
      { numRuns: 200 },
    );
  });
});

describe('in money', () => {
  test.each([
    [{ reads: 100_000 }, 0.03],
    [{ writes: 100_000 }, 0.09],
    [{ deletes: 100_000 }, 0.01],
    [{ tasks: 1_000_000 }, 0.8],
    [{ reads: 1 }, 0.0000003],
    [{}, 0],
  ])('%j is $%d', (spent, usd) => {
    expect(usdOf(fullCost(spent))).toBe(usd);
  });
});
