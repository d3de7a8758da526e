import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  armed,
  decideDue,
  disarmed,
  MAX_CATCH_UP,
  MAX_FIRES,
  retimed,
} from '../../../packages/cairn/src/core/schedule/due.ts';
import type { CatchUp, Schedule } from '../../../packages/cairn/src/core/schedule/schedule.ts';
import { slotsBetween } from '../../../packages/cairn/src/core/schedule/slots.ts';

const MINUTE = 60_000;
const T0 = Date.UTC(2026, 4, 17);

function schedule(changes: Partial<Schedule> = {}): Schedule {
  return {
    id: 'sch_1',
    tenantId: 'acme',
    origin: 'stored',
    state: 'active',
    type: 'echo',
    cron: '*/5 * * * *',
    timezone: 'Etc/UTC',
    input: {},
    catchUp: 'latest',
    settledUntil: T0,
    nextAt: T0 + 5 * MINUTE,
    fired: 0,
    skipped: 0,
    refused: 0,
    createdAt: T0,
    updatedAt: T0,
    ...changes,
  };
}

/** Minutes after T0. */
const minutes = (slots: readonly number[]) => slots.map((slot) => (slot - T0) / MINUTE);

describe('due slots', () => {
  test.each<CatchUp>(['skip', 'latest', 'all'])('in time are fired, whatever the policy (%s)', (catchUp) => {
    const decision = decideDue(schedule({ catchUp }), T0 + 5 * MINUTE + 20_000);
    expect(decision).toEqual({ fire: [T0 + 5 * MINUTE], skipped: 0, settledUntil: T0 + 5 * MINUTE });
  });

  test.each<[CatchUp, number[], number]>([
    ['skip', [], 36],
    ['latest', [180], 35],
    ['all', Array.from({ length: 36 }, (_, i) => 5 * (i + 1)), 0],
  ])('after three hours of downtime: %s', (catchUp, fire, skipped) => {
    const now = T0 + 183 * MINUTE;
    const decision = decideDue(schedule({ catchUp }), now);
    expect(minutes(decision.fire)).toEqual(fire);
    expect(decision).toMatchObject({
      skipped,
      settledUntil: T0 + 180 * MINUTE,
      catchUp: { at: now, policy: catchUp, missed: 36, more: false, made: fire.length },
    });
    expect(minutes([decision.catchUp?.from ?? 0, decision.catchUp?.until ?? 0])).toEqual([5, 180]);
  });

  test.each<[CatchUp, number[]]>([
    ['skip', [180]],
    ['latest', [180]],
    ['all', [60, 120, 180]],
  ])('after a downtime that ends with one in time: %s', (catchUp, fire) => {
    const decision = decideDue(schedule({ catchUp, cron: '0 * * * *' }), T0 + 180 * MINUTE + 30_000);
    expect(minutes(decision.fire)).toEqual(fire);
  });

  test('are none if none is due or the clock runs backwards', () => {
    for (const now of [T0 + 1, T0, T0 - 60 * MINUTE])
      expect(decideDue(schedule(), now)).toEqual({ fire: [], skipped: 0, settledUntil: T0 });
  });

  test('are fired in bounded batches, and reported once', () => {
    let current = schedule({ catchUp: 'all', cron: '* * * * *' });
    const now = T0 + 125 * MINUTE;
    const fired: number[] = [];
    const reports: unknown[] = [];
    for (let tick = 0; tick < 3; tick += 1) {
      const decision = decideDue(current, now);
      expect(decision.fire.length).toBeLessThanOrEqual(MAX_FIRES);
      fired.push(...minutes(decision.fire));
      if (decision.catchUp) reports.push(decision.catchUp);
      current = {
        ...armed(current, decision.settledUntil),
        ...(decision.catchUp ? { lastCatchUp: decision.catchUp } : {}),
      };
    }
    expect(fired).toEqual(Array.from({ length: 125 }, (_, i) => i + 1));
    // Three of them are in time.
    expect(reports).toEqual([expect.objectContaining({ missed: 122, made: 122 })]);
    expect(current.nextAt).toBe(now + MINUTE);
  });

  test('are caught up to a bounded number, newest first', () => {
    const now = T0 + 30 * 24 * 60 * MINUTE;
    const decision = decideDue(schedule({ catchUp: 'all', cron: '* * * * *' }), now);
    expect(decision.catchUp).toMatchObject({ more: true });
    expect(decision.catchUp?.missed).toBeLessThan(MAX_CATCH_UP);
    expect(decision.fire[0]).toBe(now - (MAX_CATCH_UP - 1) * MINUTE);
  });

  test('are each fired once or skipped, for any tick times', () => {
    const gaps = fc.array(fc.integer({ min: 1, max: 240 * MINUTE }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(gaps, fc.constantFrom<CatchUp>('skip', 'latest', 'all'), (ticks, catchUp) => {
        let current = schedule({ catchUp });
        let now = T0;
        const fired: number[] = [];
        let skipped = 0;
        for (const gap of ticks) {
          now += gap;
          const decision = decideDue(current, now);
          fired.push(...decision.fire);
          skipped += decision.skipped;
          current = armed(current, decision.settledUntil);
        }
        const come = Math.floor((current.settledUntil - T0) / (5 * MINUTE));
        expect(new Set(fired).size).toBe(fired.length);
        expect(fired).toEqual(fired.toSorted((a, b) => a - b));
        expect(fired.length + skipped).toBe(come);
        if (catchUp === 'all') expect(skipped).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a change in the middle of a catch-up', () => {
  const changes: Readonly<Record<string, (schedule: Schedule, now: number) => Schedule>> = {
    pause: (current, now) => disarmed(current, { state: 'paused', pause: { since: now, by: 'c.ada' } }),
    withdrawal: (current) => disarmed(current, { state: 'withdrawn' }),
    'another cron expression': (current, now) => retimed({ ...current, cron: '7 * * * *' }, current, now),
    'another policy': (current, now) => {
      const patched = retimed({ ...current, catchUp: 'skip' }, current, now);
      const { skipped, settledUntil } = decideDue(patched, now);
      return { ...armed(patched, settledUntil), skipped: patched.skipped + skipped };
    },
  };

  test.each(Object.keys(changes))('is in its report: %s', (change) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 9 }), (downMinutes, ticks) => {
        // No slot of the last two minutes.
        const now = T0 + (5 * downMinutes + 3) * MINUTE;
        let current = schedule({ catchUp: 'all' });
        let fired = 0;
        for (let tick = 0; tick < ticks; tick += 1) {
          const { fire, settledUntil, skipped, catchUp = current.lastCatchUp } = decideDue(current, now);
          fired += fire.length;
          current = { ...armed(current, settledUntil), skipped: current.skipped + skipped };
          if (catchUp) current = { ...current, lastCatchUp: catchUp };
        }
        // Twice, because a second change must count nothing twice.
        const changed = changes[change]?.(changes[change]?.(current, now) ?? current, now);
        if (ticks === 0) return;
        expect([changed?.lastCatchUp?.made ?? 0, changed?.skipped]).toEqual([fired, downMinutes - fired]);
      }),
      { numRuns: 25 },
    );
  });
});

test('a slot common to an old and a new timing is fired once, whenever the change happens between ticks', () => {
  const lines = ['* * * * *', '*/2 * * * *', '*/5 * * * *', '7 * * * *', '0,7,30 * * * *', '59 23 * * *'];
  const minuteOf = fc.integer({ min: 1, max: 59 });
  const late = fc.integer({ min: 0, max: 59_999 });
  fc.assert(
    fc.property(
      fc.record({ cron: fc.constantFrom(...lines), next: fc.constantFrom(...lines), at: minuteOf, late }),
      ({ cron, next, at, late }) => {
        let current = armed(schedule({ cron }), T0);
        const fired: number[] = [];
        for (let minute = 1; minute <= 60; minute += 1) {
          const now = T0 + minute * MINUTE + late;
          // Each tick updates a schedule to its declaration.
          const wanted = minute < at ? cron : next;
          if (current.cron !== wanted) current = retimed({ ...current, cron: wanted }, current, now);
          const decision = decideDue(current, now);
          fired.push(...decision.fire);
          current = armed(current, decision.settledUntil);
        }
        const slotsOf = (line: string) => slotsBetween(schedule({ cron: line }), T0, T0 + 60 * MINUTE, 60);
        expect(new Set(fired).size).toBe(fired.length);
        const [before, after] = [slotsOf(cron), slotsOf(next)];
        const both = before.filter((slot) => after.includes(slot));
        expect(both.filter((slot) => !fired.includes(slot))).toEqual([]);
        const strangers = fired.filter((slot) => !before.includes(slot) && !after.includes(slot));
        expect(strangers).toEqual([]);
      },
    ),
    { numRuns: 30 },
  );
});

test('a paused schedule is never due, and has its next slot after it is resumed', () => {
  const pause = { since: T0, by: 'c.ops' };
  const paused = disarmed(schedule(), { state: 'paused', pause });
  expect(paused).toMatchObject({ state: 'paused', pause });
  expect(paused).not.toHaveProperty('nextAt');
  const back = armed(paused, T0 + 61 * MINUTE);
  expect(back).toMatchObject({ state: 'active', settledUntil: T0 + 61 * MINUTE, nextAt: T0 + 65 * MINUTE });
  expect(back).not.toHaveProperty('pause');
  expect(disarmed(paused, { state: 'withdrawn' })).not.toHaveProperty('pause');
});
