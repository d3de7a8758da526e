import { expect, test } from '@jest/globals';
import { operationsText, usdText } from '../../../packages/console/src/parts/cost-text.ts';

test.each([
  [0, '$0'],
  [Number.NaN, '$0'],
  [0.000_000_001, '<$0.0000001'],
  [0.000_012_34, '$0.000012'],
  [0.0099, '$0.0099'],
  [0.019, '$0.019'],
  [0.5, '$0.50'],
  [1.3, '$1.30'],
  [1234.5, '$1234.50'],
])('%p dollars read %s', (usd, text) => {
  expect(usdText(usd)).toBe(text);
});

test.each([
  [{ reads: 0, writes: 0, deletes: 0, tasks: 0 }, 'nothing yet'],
  [{ reads: 3, writes: 40, deletes: 0, tasks: 1 }, '40 writes, 3 reads, 1 task'],
  [{ reads: 0, writes: 15_032, deletes: 0, tasks: 0 }, '15,032 writes'],
])('%j read %s', (operations, text) => {
  expect(operationsText(operations)).toBe(text);
});
