import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Head,
  headAfter,
  type Live,
  type LiveHeadEvent,
  liveAfter,
  NOTHING_LIVE,
} from '../../../packages/console/src/pages/runs/list/live-head.ts';
import { byAge, type RunRow } from '../../../packages/console/src/pages/runs/row.ts';
import { rowNumber } from './support/summaries.ts';

const LIMIT = 5;
const ids = (rows: readonly RunRow[]) => rows.map(({ id }) => id);
const rows = (...numbers: number[]) => numbers.map((number) => rowNumber(number)).sort(byAge);
const documented = (...numbers: number[]): LiveHeadEvent[] =>
  rows(...numbers).map((row) => ({ kind: 'run', row }));
const gone = (number: number): LiveHeadEvent => ({ kind: 'gone', id: rowNumber(number).id });
const READY: LiveHeadEvent = { kind: 'ready' };

function moved(before: readonly RunRow[], ...batches: LiveHeadEvent[][]): Head {
  let live: Live = NOTHING_LIVE;
  let head: Head = { rows: before, hasGap: false };
  for (const batch of batches) {
    live = liveAfter(live, batch);
    head = headAfter(head.rows, live, LIMIT);
  }
  return head;
}

describe('the newest rows updated by the stream', () => {
  test('before the first complete list, rows change and none is added or removed', () => {
    const [change] = [{ kind: 'run', row: rowNumber(2, 'completed') }] as const;
    const head = moved(rows(1, 2, 3), [change, ...documented(9)]);
    expect(head.rows.map(({ status }) => status)).toEqual(['running', 'completed', 'running']);
  });

  test('a new run is first, and the one it pushes out stays in the list', () => {
    const head = moved(
      rows(1, 2, 3, 4, 5),
      [...documented(1, 2, 3, 4, 5), READY],
      [...documented(6), gone(1)],
    );
    expect(ids(head.rows)).toEqual(ids(rows(6, 5, 4, 3, 2, 1)));
  });

  test('in either order of the two events', () => {
    const head = moved(
      rows(1, 2, 3, 4, 5),
      [...documented(1, 2, 3, 4, 5), READY],
      [gone(2), gone(1), ...documented(6, 7)],
    );
    expect(ids(head.rows)).toEqual(ids(rows(7, 6, 5, 4, 3, 2, 1)));
  });

  test('a run that no longer matches leaves the list, and the next moves up', () => {
    const head = moved(
      rows(2, 3, 4, 5, 6),
      [...documented(2, 3, 4, 5, 6), READY],
      [gone(2), ...documented(1)],
    );
    expect(ids(head.rows)).toEqual(ids(rows(6, 5, 4, 3, 1)));
  });

  test('the last of a short list leaves it too', () => {
    expect(ids(moved(rows(1, 2), [...documented(1, 2), READY], [gone(1)]).rows)).toEqual(ids(rows(2)));
  });

  test('more new runs than the stream sends leave a gap', () => {
    expect(moved(rows(1, 2), [...documented(11, 12, 13, 14, 15), READY]).hasGap).toBe(true);
    expect(moved(rows(1, 11), [...documented(11, 12, 13, 14, 15), READY]).hasGap).toBe(false);
    expect(moved([], [...documented(11, 12, 13, 14, 15), READY]).hasGap).toBe(false);
  });
});

const happening = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('new' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leaves' as const), which: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const) }) },
);

test('after any events, the list has every matching run down to its end, once, in order', () => {
  fc.assert(
    fc.property(
      fc.nat(12),
      fc.array(fc.array(happening, { maxLength: 4 }), { maxLength: 12 }),
      fc.infiniteStream(fc.boolean()),
      (first, batches, coin) => {
        let number = first;
        const matching = new Map(Array.from({ length: first }, (_, i) => [i, rowNumber(i)]));
        const newest = () => [...matching.values()].sort(byAge).slice(0, LIMIT);
        let stream = newest();
        let live = liveAfter(NOTHING_LIVE, [
          ...stream.map((row): LiveHeadEvent => ({ kind: 'run', row })),
          READY,
        ]);
        let head: Head = { rows: newest(), hasGap: false };
        for (const batch of batches) {
          let isCut = false;
          for (const one of batch) {
            if (one.kind === 'new')
              for (let i = 0; i < one.count; i += 1, number += 1) matching.set(number, rowNumber(number));
            else if (one.kind === 'leaves') matching.delete(number - 1 - one.which);
            else isCut = true;
          }
          const now = newest();
          const frames: LiveHeadEvent[] = isCut
            ? now.map((row) => ({ kind: 'run', row }))
            : [
                ...now
                  .filter((row) => !stream.some(({ id }) => id === row.id))
                  .map((row): LiveHeadEvent => ({ kind: 'run', row })),
                ...stream
                  .filter((row) => !now.some(({ id }) => id === row.id))
                  .map(({ id }): LiveHeadEvent => ({ kind: 'gone', id })),
              ];
          if (coin.next().value) frames.reverse();
          stream = now;
          live = liveAfter(isCut ? NOTHING_LIVE : live, isCut ? [...frames, READY] : frames);
          head = headAfter(head.rows, live, LIMIT);
          if (head.hasGap) head = { rows: newest(), hasGap: false };

          const listed = ids(head.rows);
          expect(listed).toEqual(ids([...head.rows].sort(byAge)));
          expect(new Set(listed).size).toBe(listed.length);
          const last = head.rows.at(-1);
          const all = [...matching.values()].filter((row) => last && byAge(row, last) <= 0);
          expect(listed).toEqual(expect.arrayContaining(ids(all)));
          expect(listed.slice(0, now.length)).toEqual(ids(now));
        }
      },
    ),
    { numRuns: 300 },
  );
});
