import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type DueClass,
  dueClass,
  MOVABLE_MS,
  nextScanMove,
  SCAN_MOST,
  SCAN_MS,
  type ScanProgress,
} from '../../../packages/cairn/src/core/recovery/scan-order.ts';

describe('the class of a due run', () => {
  const paused = new Set(['paused']);
  test.each([
    ['a run of a paused workflow', { type: 'paused', status: 'pending', isBlocked: false }, 'paused'],
    [
      'a blocked run of a paused workflow',
      { type: 'paused', status: 'waiting_external', isBlocked: true },
      'paused',
    ],
    ['an ended run of a paused workflow', { type: 'paused', status: 'failed', isBlocked: false }, 'movable'],
    ['a blocked run', { type: 'open', status: 'waiting_external', isBlocked: true }, 'blocked'],
    ['any other run', { type: 'open', status: 'running', isBlocked: false }, 'movable'],
    ['a run without a readable type', { status: 'running', isBlocked: false }, 'movable'],
    ['a run without a readable status', { type: 'paused', isBlocked: false }, 'movable'],
  ] as const)('%s', (_, facts, expected) => {
    expect(dueClass(facts, paused)).toBe(expected);
  });
});

describe('the next action of a tick', () => {
  const progress = (changes: Partial<Omit<ScanProgress, 'open'>> & Partial<ScanProgress['open']> = {}) => {
    const { movable = 0, blocked = 0, paused = 0, ...rest } = changes;
    return nextScanMove({
      elapsedMs: 0,
      read: 0,
      isAtEnd: false,
      ...rest,
      open: { movable, blocked, paused },
    });
  };

  test.each([
    ['movable runs come before everything else', { movable: 1, blocked: 9, paused: 9 }, 'movable'],
    ['pages are read before blocked and paused runs are handled', { blocked: 9, paused: 9 }, 'read'],
    ['blocked runs come before paused ones', { isAtEnd: true, blocked: 1, paused: 9 }, 'blocked'],
    ['paused runs come last', { isAtEnd: true, paused: 1 }, 'paused'],
    ['a tick ends when nothing is left', { isAtEnd: true }, 'end'],
    ['a tick reads a bounded number of entries', { read: SCAN_MOST, paused: 1 }, 'paused'],
    [
      'the end of the time share lets blocked runs go first',
      { elapsedMs: MOVABLE_MS, movable: 9, blocked: 1 },
      'blocked',
    ],
    [
      'the end of the time share lets paused runs go first',
      { elapsedMs: MOVABLE_MS, movable: 9, paused: 1 },
      'paused',
    ],
    ['movable runs take the time that the others leave', { elapsedMs: MOVABLE_MS, movable: 9 }, 'movable'],
    [
      'blocked runs come before a page after the time share',
      { elapsedMs: MOVABLE_MS, blocked: 1 },
      'blocked',
    ],
    ['a page is read after the time share if nothing else is left', { elapsedMs: MOVABLE_MS }, 'read'],
    ['nothing begins when the time is up', { elapsedMs: SCAN_MS, movable: 1, blocked: 1, paused: 1 }, 'end'],
  ] as const)('%s', (_, given, expected) => {
    expect(progress(given)).toBe(expected);
  });

  interface Tick {
    readonly handled: Record<DueClass, number>;
    readonly firstMovableMs: number;
    readonly elapsedMs: number;
    readonly read: number;
  }

  /** One tick over a list of due runs; each move takes the given time. */
  function simulate(
    due: readonly DueClass[],
    costMs: Record<DueClass | 'read', number>,
    pageSize: number,
  ): Tick {
    const open = { movable: 0, blocked: 0, paused: 0 };
    const handled = { movable: 0, blocked: 0, paused: 0 };
    let [elapsedMs, read, firstMovableMs] = [0, 0, Number.POSITIVE_INFINITY];
    for (;;) {
      const move = nextScanMove({ elapsedMs, read, isAtEnd: read >= due.length, open });
      if (move === 'end') return { handled, firstMovableMs, elapsedMs, read };
      elapsedMs += costMs[move];
      if (move === 'read') {
        for (const one of due.slice(read, read + pageSize)) open[one] += 1;
        read = Math.min(due.length, read + pageSize);
        continue;
      }
      open[move] -= 1;
      handled[move] += 1;
      if (move === 'movable') firstMovableMs = Math.min(firstMovableMs, elapsedMs);
    }
  }

  test('10,000 paused runs delay a lost task only by the time to read them', () => {
    const due: DueClass[] = [...new Array<DueClass>(10_000).fill('paused'), 'movable'];
    const tick = simulate(due, { movable: 3, blocked: 3, paused: 2, read: 200 }, 500);
    expect(tick.firstMovableMs).toBeLessThan(10_000);
    expect(tick.handled).toEqual({ movable: 1, blocked: 0, paused: 10_000 });
  });

  test('10,000 overdue runs are handled at 250 a second within two ticks', () => {
    const first = simulate(
      new Array<DueClass>(10_000).fill('movable'),
      { movable: 4, blocked: 4, paused: 4, read: 200 },
      500,
    );
    const left = 10_000 - first.handled.movable;
    const second = simulate(
      new Array<DueClass>(left).fill('movable'),
      { movable: 4, blocked: 4, paused: 4, read: 200 },
      500,
    );
    expect(second.handled.movable).toBe(left);
  });

  test('many movable runs leave time for blocked and paused ones', () => {
    const due: DueClass[] = ['blocked', 'paused', ...new Array<DueClass>(19_000).fill('movable')];
    const tick = simulate(due, { movable: 4, blocked: 4, paused: 4, read: 200 }, 500);
    expect(tick.handled).toMatchObject({ blocked: 1, paused: 1 });
    expect(tick.elapsedMs).toBeLessThan(SCAN_MS + 5);
  });

  test('a tick ends, handles no run twice, and uses all of its time', () => {
    const classes = fc.constantFrom<DueClass>('movable', 'blocked', 'paused');
    const cost = fc.integer({ min: 1, max: 5_000 });
    const costs = fc.record({ movable: cost, blocked: cost, paused: cost, read: cost });
    fc.assert(
      fc.property(
        fc.array(classes, { maxLength: 200 }),
        costs,
        fc.integer({ min: 1, max: 50 }),
        (due, costMs, page) => {
          const tick = simulate(due, costMs, page);
          const total = tick.handled.movable + tick.handled.blocked + tick.handled.paused;
          expect(total).toBeLessThanOrEqual(tick.read);
          expect(tick.elapsedMs).toBeLessThan(SCAN_MS + 5_000);
          if (tick.elapsedMs < MOVABLE_MS) expect(total).toBe(due.length);
        },
      ),
    );
  });
});
