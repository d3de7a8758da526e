import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Schedule } from '../../packages/cairn/src/core/schedule/schedule.ts';
import { checkedTiming, slotsBetween } from '../../packages/cairn/src/core/schedule/slots.ts';
import { type TickReport, tick } from '../../packages/cairn/src/triggers/schedule/tick.ts';
import { type Hints, jsonText, type Schema } from '../api/fuzz/json-text.ts';
import { Stage, TENANT } from '../api/fuzz/stage.ts';
import { document } from '../api/openapi/checked.ts';
import { changed } from '../support/image.ts';

/** Takes some seconds. `FUZZ_INPUTS=20000` before the command tests more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 80);
/** Long enough for a busy machine. */
const TIMEOUT_MS = 240_000 + INPUTS * 60;
/** Requests and ticks of one installation, one after the other. */
const IN_A_ROW = 25;
const MINUTE_MS = 60_000;

const zone = fc.constantFrom(
  ...[
    'Etc/UTC',
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Antarctica/Troll',
    'Asia/Kathmandu',
  ],
  ...[
    'utc',
    'Mars/Phobos',
    '+01:00',
    '',
    '../etc/passwd',
    'x'.repeat(101),
    'GMT+25',
    'Etc/GMT-14',
    'CST6CDT',
  ],
);
const number = fc.oneof(fc.nat(62).map(String), fc.constantFrom('0', '1', '59', '60', '-1', '007', '1e1'));
const part = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('*', '*/5', '*/20', '0', '30', '1', '12') },
  { weight: 2, arbitrary: number },
  { weight: 1, arbitrary: fc.tuple(number, number).map(([from, to]) => `${from}-${to}`) },
  { weight: 1, arbitrary: fc.tuple(number, number).map(([from, step]) => `${from}/${step}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('*/0', 'MON', 'L', 'LW', '1W', 'MON#5', '1#1', '?', 'FEB', ',', '-', '#', ''),
  },
);
const line = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(part, part, part, part, part).map((parts) => parts.join(' ')) },
  {
    weight: 6,
    arbitrary: fc.constantFrom('* * * * *', '*/5 * * * *', '0 * * * *', '30 2 * * *', '0 0 29 2 *'),
  },
  { weight: 1, arbitrary: fc.array(part, { maxLength: 8 }).map((parts) => parts.join(' ')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '@daily',
      '@reboot',
      '0 0 30 2 *',
      ' * * * * * ',
      '*\t*\n* * *',
      '* '.repeat(300),
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
);

/** Values of members are drawn first, and a body uses one of them. */
const HINTS: Hints = {
  cron: fc.sample(line, { numRuns: 400, seed: 7 }),
  timezone: fc.sample(zone, { numRuns: 40, seed: 7 }),
  type: ['echo', 'echo', 'echo', 'nightly', 'gone'],
  input: [{ text: 'x' }, { text: 'x', slot: 1 }, {}, null, [1]],
  from: [
    '2025-12-31T20:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-01-01T00:00:00+14:00',
    '1969-12-31T23:59:59.999Z',
    'x',
  ],
  to: ['2025-12-31T23:00:00Z', '2026-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2025-12-31T24:00:00Z', ''],
};
const bodies = jsonText(document.components.schemas as unknown as Record<string, Schema>, HINTS);
const verbs = fc.constantFrom('pause', 'resume', 'trigger', 'backfill');

type Act =
  | {
      readonly kind: 'ask';
      readonly method: string;
      readonly which: number;
      readonly under: string;
      readonly body: string;
    }
  | { readonly kind: 'tick'; readonly afterMs: number; readonly atOnce: number };

const ask = (method: string, under: fc.Arbitrary<string>, body: (under: string) => fc.Arbitrary<string>) =>
  under.chain((one) =>
    fc.record({
      kind: fc.constant('ask' as const),
      method: fc.constant(method),
      which: fc.nat(8),
      under: fc.constant(one),
      body: body(one),
    }),
  );
const NAMES: Readonly<Record<string, string>> = {
  pause: 'PauseScheduleBody',
  resume: 'ResumeScheduleBody',
  trigger: 'TriggerScheduleBody',
  backfill: 'BackfillBody',
};
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: ask('POST', fc.constant('new'), () => bodies('NewScheduleBody')) },
  { weight: 2, arbitrary: ask('PATCH', fc.constant(''), () => bodies('PatchScheduleBody')) },
  { weight: 3, arbitrary: ask('POST', verbs, (verb) => bodies(NAMES[verb] ?? '')) },
  { weight: 1, arbitrary: ask('DELETE', fc.constant(''), () => bodies('DeleteScheduleBody')) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('tick' as const),
      afterMs: fc.oneof(
        fc.constantFrom(0, 1, 59_999, 5, 60, 180).map((one) => one * MINUTE_MS),
        fc.nat(90 * MINUTE_MS),
      ),
      atOnce: fc.constantFrom(1, 1, 2),
    }),
  },
);

class Run {
  readonly stage: Stage;
  readonly seen: Record<string, number>;

  constructor(stage: Stage, seen: Record<string, number>) {
    this.stage = stage;
    this.seen = seen;
  }

  get schedules(): readonly Schedule[] {
    return [...this.stage.installation.world.db.schedules.values()].map(({ schedule }) => schedule);
  }

  async ask({ method, which, under, body }: Act & { kind: 'ask' }): Promise<void> {
    const own = this.schedules.filter(({ tenantId }) => tenantId === TENANT);
    const id = own[which % own.length]?.id ?? 'none';
    const path = under === 'new' ? '/v1/schedules' : `/v1/schedules/${id}${under === '' ? '' : `/${under}`}`;
    const before = this.stage.image();
    const answer = await this.stage.api.request(path, {
      method,
      headers: {
        authorization: this.stage.credentials.admin?.value ?? '',
        'content-type': 'application/json',
      },
      body,
    });
    const { status } = answer;
    const told = await answer.text();
    expect([status < 500, told]).toEqual([true, told]);
    if (status >= 400) {
      expect(JSON.parse(told)).toMatchObject({ status, code: expect.any(String) });
      expect([told, changed(before, this.stage.image())]).toEqual([told, []]);
    }
    this.count(status < 400 ? 'taken' : 'refused');
  }

  async tick({ afterMs, atOnce }: Act & { kind: 'tick' }): Promise<void> {
    const { world, apiDeps } = this.stage.installation;
    world.clock.jump(afterMs);
    const before = this.stage.image();
    const runsBefore = world.db.runs.size;
    const deps = { ...apiDeps, log: this.stage.log, declaredTenant: TENANT };
    const reports = await Promise.all(Array.from({ length: atOnce }, () => tick(deps)));
    const total = (of: (report: TickReport) => number) => reports.reduce((sum, one) => sum + of(one), 0);
    expect(total(({ failed }) => failed)).toBe(0);
    const started = world.db.runs.size - runsBefore;
    expect(started).toBeLessThanOrEqual(total(({ fired }) => fired));
    if (total(({ due }) => due) === 0) expect(changed(before, this.stage.image())).toEqual([]);
    this.count(started > 0 ? 'fired' : 'quiet');
  }

  /** Invariants of every schedule, whatever was requested and whenever it fired. */
  assertSound(): void {
    const { world } = this.stage.installation;
    const now = world.clock.now();
    expect(
      this.stage.errors().filter((line) => (line as { event: string }).event !== 'schedule_refused'),
    ).toEqual([]);
    for (const schedule of this.schedules) {
      const { state, nextAt, settledUntil, last } = schedule;
      expect(checkedTiming(schedule)).toEqual({ cron: schedule.cron, timezone: schedule.timezone });
      expect(settledUntil).toBeLessThanOrEqual(now);
      if (state !== 'active') expect(nextAt).toBeUndefined();
      if (nextAt !== undefined) expect(nextAt).toBeGreaterThan(settledUntil);
      if (last) expect(last.slot).toBeLessThanOrEqual(last.at);
    }
  }

  count(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }
}

test(
  `of ${INPUTS} requests and ticks none fails, and none that is refused writes anything`,
  async () => {
    const seen: Record<string, number> = {};
    const row = fc.array(acts, { minLength: IN_A_ROW, maxLength: IN_A_ROW });
    await fc.assert(
      fc.asyncProperty(row, async (those) => {
        const run = new Run(await Stage.make(), seen);
        for (const act of those) {
          await (act.kind === 'ask' ? run.ask(act) : run.tick(act));
          run.assertSound();
        }
      }),
      { numRuns: Math.ceil(INPUTS / IN_A_ROW) },
    );
    for (const what of ['taken', 'refused', 'fired', 'quiet'])
      expect([what, seen[what] ?? 0]).not.toEqual([what, 0]);
  },
  TIMEOUT_MS,
);

test('each of many hostile cron expressions and time zones is refused with a text, or has slots in order', () => {
  const kinds = { refused: 0, due: 0 };
  fc.assert(
    fc.property(
      line,
      zone,
      fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
      (cron, timezone, from) => {
        let timing: { readonly cron: string; readonly timezone: string };
        try {
          timing = checkedTiming({ cron, timezone });
        } catch (error) {
          expect(error).toMatchObject({
            code: 'INVALID_INPUT',
            field: expect.stringMatching(/^(cron|timezone)$/),
          });
          kinds.refused += 1;
          return;
        }
        kinds.due += 1;
        const slots = slotsBetween(timing, from.getTime(), from.getTime() + 40 * 24 * 60 * MINUTE_MS, 20);
        expect(slots.every((slot, i) => slot > (slots[i - 1] ?? from.getTime()))).toBe(true);
        expect(slots.every((slot) => slot % MINUTE_MS === 0)).toBe(true);
        // The slots are the same from any starting point.
        const [, ...rest] = slots;
        if (slots[0] !== undefined)
          expect(slotsBetween(timing, slots[0], slots.at(-1) ?? 0, 20)).toEqual(rest);
      },
    ),
    { numRuns: INPUTS },
  );
  expect(kinds.refused).toBeGreaterThan(0);
  expect(kinds.due).toBeGreaterThan(0);
});
