import { expect, test } from '@jest/globals';
import { errorDetails, stackText } from '../../../packages/cli/src/views/stack.ts';

const style = {
  paint: (_: string, text: string) => text,
  dim: (text: string) => text,
  bold: (t: string) => t,
};
const shape = (columns?: number) =>
  ({ style, ...(columns && { columns }) }) as unknown as Parameters<typeof stackText>[1];
const TRACE = [
  'SyntaxError: Unexpected token b',
  '    at JSON.parse (<anonymous>)',
  '    at charge (file:///home/ada/shop/functions/src/order.ts:12:21)',
  '    at file:///home/ada/shop/functions/src/workflows/shipping/parcels/with-a-long-name.ts:3:5',
  '    at attempt (file:///home/ada/shop/node_modules/cairn/dist/engine/attempt.js:1:1)',
  '    at node:internal/process/task_queues:105:5',
].join('\n');

test('the stack of an error has the frames of the user’s code only', () => {
  expect(stackText(TRACE, shape())).toBe(
    [
      '      at JSON.parse (<anonymous>)\n',
      '      at charge (/home/ada/shop/functions/src/order.ts:12:21)\n',
      '      at /home/ada/shop/functions/src/workflows/shipping/parcels/with-a-long-name.ts:3:5\n',
    ].join(''),
  );
  expect([stackText(undefined, shape()), stackText('Error: no frames', shape())]).toEqual(['', '']);
});

test('the causes of an error are shown before its frames', () => {
  const trace = `TypeError: fetch failed\n    at load (/shop/order.ts:1:1)\ncaused by: Error: refused\n    at /shop/net.ts:2:2`;
  expect(stackText(trace, shape()).trim().split(/\n\s*/)).toEqual([
    'caused by: Error: refused',
    'at load (/shop/order.ts:1:1)',
    'at /shop/net.ts:2:2',
  ]);
});

test('a frame that is too long is cut at the beginning of its path', () => {
  const lines = stackText(TRACE, shape(60)).split('\n');
  expect(lines.every((line) => line.length <= 60)).toBe(true);
  expect(lines[2]).toMatch(/^ {6}at ….*with-a-long-name\.ts:3:5$/);
});

test('the page of a run has the full message below if its head truncated it or it has a stack', () => {
  const error = { code: 'STEP_FAILED', message: 'no stock '.repeat(20).trim() };
  expect(errorDetails(error, shape(80)).replaceAll(/\s+/g, ' ').trim()).toBe(`STEP_FAILED: ${error.message}`);
  expect(errorDetails({ code: 'STEP_FAILED', message: 'no stock' }, shape(80))).toBe('');
  expect(errorDetails({ code: 'A', message: 'b', trace: TRACE }, shape(80))).toMatch(
    /^ {2}A: b\n {6}at JSON/,
  );
});
