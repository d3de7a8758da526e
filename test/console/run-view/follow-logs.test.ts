import { expect, test } from '@jest/globals';
import { followLogs, type ReadLines } from '../../../packages/console/src/pages/run/logs/follow-logs.ts';

const line = (message: string) =>
  ({ kind: 'log', at: '', level: 'info', step: 'a', revision: 1, attempt: 1, message }) as const;
const page = (
  message: string | undefined,
  more: { next?: string; after?: string; ended?: boolean } = {},
) => ({
  items: message === undefined ? [] : [line(message)],
  ended: false,
  ...more,
});

async function followed(pages: readonly ReturnType<typeof page>[]) {
  const cursors: (string | undefined)[] = [];
  const shown: ReadLines[] = [];
  let pauses = 0;
  await followLogs({
    read: async (cursor) => {
      cursors.push(cursor);
      const next = pages[cursors.length - 1];
      if (!next) throw new Error('asked too often');
      return next;
    },
    show: (read) => shown.push(read),
    pause: async () => {
      pauses += 1;
    },
    signal: new AbortController().signal,
  });
  return { cursors, shown, pauses };
}

test('existing pages are read at once, later lines after a pause, until the run has ended', async () => {
  const { cursors, shown, pauses } = await followed([
    page('one', { next: 'c1', after: 'c1' }),
    page('two', { after: 'c2' }),
    page(undefined, { after: 'c2' }),
    page('three', { after: 'c3', ended: true }),
  ]);
  expect(cursors).toEqual([undefined, 'c1', 'c2', 'c2']);
  expect(pauses).toBe(2);
  expect(shown.map(({ lines }) => lines.length)).toEqual([1, 2, 2, 3]);
  expect(shown.map(({ isReading, isWhole }) => [isReading, isWhole])).toEqual([
    [true, false],
    [false, false],
    [false, false],
    [false, true],
  ]);
  expect(shown[2]?.lines).toBe(shown[1]?.lines);
});

test('a run without lines is read from the first', async () => {
  const { cursors } = await followed([page(undefined), page('one', { after: 'c1', ended: true })]);
  expect(cursors).toEqual([undefined, undefined]);
});

test('an unreadable page ends the reading with its error', async () => {
  await expect(followed([page('one', { next: 'c1', after: 'c1' })])).rejects.toThrow('asked too often');
});
