import { describe, expect, test } from '@jest/globals';
import { mapConcurrently, workThrough } from '../../packages/cairn/src/core/map-concurrently.ts';

const items = (count: number) => Array.from({ length: count }, (_, i) => i);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('work on many things', () => {
  test('mapConcurrently returns the results in the order of the items', async () => {
    const results = await mapConcurrently(items(7), 3, async (item) => {
      if (item === 0) await turn();
      return item * 2;
    });
    expect(results).toEqual([0, 2, 4, 6, 8, 10, 12]);
  });

  test('workThrough handles each item once, within the concurrency limit', async () => {
    const left = items(20);
    const done: number[] = [];
    let [underWay, most] = [0, 0];
    const next = () => left.shift();
    await workThrough(next, 4, async (item) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await turn();
      underWay -= 1;
      done.push(item);
    });
    expect(done.toSorted((a, b) => a - b)).toEqual(items(20));
    expect(most).toBe(4);
  });

  test('a slow item does not delay others in workThrough', async () => {
    const left = items(10);
    const done: number[] = [];
    const othersDone = Promise.withResolvers<void>();
    await workThrough(
      () => left.shift(),
      2,
      async (item) => {
        if (item === 0) await othersDone.promise;
        done.push(item);
        if (done.length === 9) othersDone.resolve();
      },
    );
    expect(done.at(-1)).toBe(0);
  });

  test('workThrough throws the failure of an item after the others have ended', async () => {
    const left = items(6);
    const done: number[] = [];
    const working = workThrough(
      () => left.shift(),
      2,
      async (item) => {
        await turn();
        if (item === 1) throw new Error('of item 1');
        done.push(item);
      },
    );
    await expect(working).rejects.toThrow('of item 1');
    expect(done).toEqual([0, 2, 3, 4, 5]);
  });
});
