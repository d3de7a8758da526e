/** The last message of a query is marked as the last, so that clients need not wait for the end of the stream. */
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setRawBench } from '../support/raw-bench.ts';
import { commit, compare, query, set } from '../support/requests.ts';

const bench = setRawBench();
const number = (integerValue: number) => ({ integerValue });

beforeAll(async () => {
  const writes = Array.from({ length: 8 }, (_, i) => set(`h/d${i}`, { a: number(i) }));
  await bench.raw.call('Commit', commit(...writes));
});

test('exactly the last message of any query is marked as the last', async () => {
  const count = fc.integer({ min: 0, max: 12 });
  await fc.assert(
    fc.asyncProperty(
      fc.record(
        { limit: count.map((value) => ({ value })), offset: count, least: count },
        { requiredKeys: [] },
      ),
      async ({ least, ...rest }) => {
        const where = least === undefined ? {} : { where: compare('a', 'GREATER_THAN', number(least)) };
        const { code, messages } = await bench.raw.call('RunQuery', query({ ...rest, ...where }));
        const ends = messages.map(({ done }) => done === true);
        expect({ code, ends }).toEqual({
          code: 0,
          ends: [...ends.slice(1).map(() => false), true],
        });
      },
    ),
    { numRuns: 60 },
  );
});
