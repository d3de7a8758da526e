/** Slots around clock changes, compared with a count of every minute of the local clock. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { slotsBetween } from '../../../packages/cairn/src/core/schedule/slots.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Change {
  readonly timezone: string;
  readonly at: number;
  /** Minutes by which the local clock is ahead of UTC before and after the change. */
  readonly offsets: readonly [number, number];
}

const change = (timezone: string, at: string, ...offsets: [number, number]): Change => ({
  timezone,
  at: Date.parse(at),
  offsets,
});
const CHANGES = [
  change('Europe/Berlin', '2026-03-29T01:00Z', 60, 120),
  change('Europe/Berlin', '2026-10-25T01:00Z', 120, 60),
  change('America/New_York', '2026-03-08T07:00Z', -300, -240),
  change('America/St_Johns', '2026-11-01T04:30Z', -150, -210),
  change('Australia/Lord_Howe', '2026-04-04T15:00Z', 660, 630),
  change('Australia/Lord_Howe', '2026-10-03T15:30Z', 630, 660),
  change('America/Nuuk', '2026-03-29T01:00Z', -120, -60),
  change('America/Nuuk', '2026-10-25T01:00Z', -60, -120),
  change('Antarctica/Troll', '2026-03-29T01:00Z', 0, 120),
  change('Antarctica/Troll', '2026-10-25T01:00Z', 120, 0),
  change('Asia/Beirut', '2026-03-28T22:00Z', 120, 180),
  change('America/Havana', '2026-11-01T05:00Z', -240, -300),
  // A whole day is skipped.
  change('Pacific/Apia', '2011-12-30T10:00Z', -600, 840),
];

interface Field {
  readonly text: string;
  readonly values: ReadonlySet<number>;
}

/** A field of a cron expression, and the values that it means. */
const fieldOf = (last: number): fc.Arbitrary<Field> => {
  const value = fc.integer({ min: 0, max: last });
  const range = fc.tuple(value, fc.integer({ min: 0, max: 6 })).map(([from, more]) => ({
    from,
    until: Math.min(last, from + more),
  }));
  const stepped = (from: number, until: number, step: number) =>
    new Set(Array.from({ length: Math.floor((until - from) / step) + 1 }, (_, i) => from + i * step));
  return fc.oneof(
    fc.constant({ text: '*', values: stepped(0, last, 1) }),
    fc.integer({ min: 2, max: 20 }).map((step) => ({ text: `*/${step}`, values: stepped(0, last, step) })),
    fc
      .array(value, { minLength: 1, maxLength: 3 })
      .map((all) => ({ text: all.join(), values: new Set(all) })),
    range.map(({ from, until }) => ({ text: `${from}-${until}`, values: stepped(from, until, 1) })),
    fc
      .tuple(range, fc.integer({ min: 1, max: 3 }), fc.option(value))
      .map(([{ from, until }, steps, other]) => {
        const step = Math.min(steps, Math.max(1, until - from));
        const first = until > from ? `${from}-${until}/${step}` : `${from}`;
        const values = new Set([...stepped(from, until, step), ...(other === null ? [] : [other])]);
        return { text: other === null ? first : `${first},${other}`, values };
      }),
  );
};

/** A cron expression whose hour is usually near the change. */
const linesAt = ({ at, offsets }: Change) => {
  const near = fc
    .tuple(fc.constantFrom(...offsets), fc.integer({ min: -2, max: 1 }))
    .map(([offset, hours]) => new Date(at + offset * MINUTE + hours * HOUR).getUTCHours())
    .map((hour) => ({ text: `${hour}`, values: new Set([hour]) }));
  const days = fc.constantFrom('*', '28', '29', '30', '25');
  return fc.tuple(fieldOf(59), fc.oneof(near, fieldOf(23)), days);
};

/** Due minutes, computed minute by minute from the documentation. */
function expectedSlots(
  { at, offsets: [before, after] }: Change,
  [minutes, hours, day]: [Field, Field, string],
) {
  const isNamed = !minutes.text.includes('*') && !hours.text.includes('*');
  const isAt = (local: number) => {
    const time = new Date(local);
    const isDay = day === '*' || time.getUTCDate() === Number(day);
    return isDay && minutes.values.has(time.getUTCMinutes()) && hours.values.has(time.getUTCHours());
  };
  const slots = new Set<number>();
  const done = new Set<number>();
  let last = Number.NEGATIVE_INFINITY;
  for (let now = at - 30 * HOUR; now <= at + 30 * HOUR; now += MINUTE) {
    const local = now + (now < at ? before : after) * MINUTE;
    const skippedFrom = now === at && isNamed ? last + MINUTE : local;
    for (let time = Math.min(skippedFrom, local); time <= local; time += MINUTE) {
      if (!isAt(time) || (isNamed && done.has(time))) continue;
      done.add(time);
      slots.add(now);
    }
    last = local;
  }
  return [...slots].filter((slot) => Math.abs(slot - at) <= 4 * HOUR).toSorted((a, b) => a - b);
}

test.each(CHANGES)('slots around the change of $timezone at $at are those of its local clock', (changed) => {
  const { timezone, at } = changed;
  fc.assert(
    fc.property(linesAt(changed), (fields) => {
      const [minutes, hours, day] = fields;
      const cron = `${minutes.text} ${hours.text} ${day} * *`;
      const found = slotsBetween({ cron, timezone }, at - 4 * HOUR - 1, at + 4 * HOUR, 10_000);
      expect([cron, found]).toEqual([cron, expectedSlots(changed, fields)]);
    }),
    { numRuns: 40 },
  );
});
