import { expect, test } from '@jest/globals';
import { costText } from '../../cli/views/run-page.ts';

const NONE = { reads: 0, writes: 0, deletes: 0, tasks: 0, usd: 0 };

test.each([
  [NONE, '0 writes, 0 reads · about $0'],
  [
    { ...NONE, reads: 1, writes: 39, tasks: 1, usd: 0.0000362 },
    '39 writes, 1 read, 1 task · about $0.000036',
  ],
  [
    { ...NONE, reads: 2, writes: 1, deletes: 1, usd: 0.0000016 },
    '1 write, 2 reads, 1 delete · about $0.0000016',
  ],
  [{ ...NONE, writes: 2_000_000, tasks: 12, usd: 1.8 }, '2000000 writes, 0 reads, 12 tasks · about $1.80'],
])('%j is told as %s', (cost, text) => {
  expect(costText(cost)).toBe(text);
});
