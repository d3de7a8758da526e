import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventView } from '../../../packages/cairn/src/api/views/documents.ts';
import type { Run, RunEvent } from '../../../packages/console/src/pages/run/live/events.ts';
import { endText } from '../../../packages/console/src/pages/run/live/span.ts';
import { StepHistories } from '../../../packages/console/src/pages/run/live/step-history.ts';
import {
  dispatchesAsLoaded,
  lifeOf,
  rowsAsLoaded,
  timelineRows,
  withRunningSpans,
} from '../../../packages/console/src/pages/run/timeline/model.ts';
import { lineOf, originText } from '../../../packages/console/src/pages/run/timeline/words.ts';
import { journals } from '../../core/run/random-journal.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const iso = (s: number) => new Date(T0 + s * 1_000).toISOString();

/** Makes a journal of event types, seconds and data. */
function journal(...events: readonly (readonly [type: string, at: number, data?: object])[]): RunEvent[] {
  return events.map(
    ([type, at, data = {}], before) =>
      ({ seq: before + 1, type, at: iso(at), initiator: 'system', data }) as unknown as RunEvent,
  );
}
const claimed = (epoch: number) => ({ owner: `w${epoch}`, epoch, expiresAt: iso(100) });
const execution = (stepId: string, attempt: number, startedAt: number, more: object = {}) => ({
  stepId,
  kind: 'step',
  revision: 1,
  attempt,
  startedAt: iso(startedAt),
  ...more,
});
const spansOf = (events: RunEvent[], key: string) => {
  const histories = new StepHistories();
  histories.add(events);
  return histories.byKey.get(key)?.spans.map(({ kind, attempt, from, to, end }) => ({
    kind,
    attempt,
    from: (from - T0) / 1_000,
    to: to === undefined ? undefined : (to - T0) / 1_000,
    end,
  }));
};

test('a body that the run reports as running has an open bar without an event', () => {
  const body = { step: 'pay', revision: 1, attempt: 2, since: iso(3) };
  const histories = withRunningSpans(new Map(), [body]);
  expect(histories.get('pay')?.spans).toEqual([
    { kind: 'attempt', seq: 0, revision: 1, attempt: 2, from: T0 + 3_000 },
  ]);
  expect(withRunningSpans(histories, [body]).get('pay')?.spans).toHaveLength(1);
  expect(withRunningSpans(new Map(), [{ ...body, undoes: true }]).size).toBe(0);
});

describe('the life of a run', () => {
  test('whose worker died shows when it died, when that was found, and when it came back', () => {
    const events = journal(
      ['run_created', 0],
      ['run_claimed', 1, claimed(1)],
      ['run_started', 1],
      ['step_started', 2, execution('build', 1, 2)],
      ['orphan_detected', 30, { owner: 'w1', epoch: 1, lastHeartbeatAt: iso(9) }],
      ['run_resumed', 30, { reason: 'recovered' }],
      ['run_claimed', 31, claimed(2)],
      ['step_started', 32, execution('build', 2, 32)],
      ['step_succeeded', 40, execution('build', 2, 32, { durationMs: 8_000 })],
      ['run_completed', 41],
    );
    const { dispatches, moments } = lifeOf(events);
    expect(dispatches).toEqual([
      { epoch: 1, from: T0 + 1_000, to: T0 + 9_000, end: 'died' },
      { epoch: 2, from: T0 + 31_000, to: T0 + 41_000, end: 'ended' },
    ]);
    expect(moments.map(({ kind, at }) => [kind, (at - T0) / 1_000])).toEqual([
      ['died', 9],
      ['found', 30],
      ['resumed', 30],
      ['end', 41],
    ]);
    expect(spansOf(events, 'build')).toEqual([
      { kind: 'attempt', attempt: 1, from: 2, to: 9, end: 'interrupted' },
      { kind: 'attempt', attempt: 2, from: 32, to: 40, end: 'succeeded' },
    ]);
  });

  test('a step without a record of its start shows its attempts and the pauses between them', () => {
    const events = journal(
      ['run_created', 0],
      [
        'step_retry_scheduled',
        3,
        execution('check', 1, 1, { retryAt: iso(8), error: { code: 'E', message: 'm' } }),
      ],
      ['step_succeeded', 10, execution('check', 2, 1, { durationMs: 9_000 })],
    );
    expect(spansOf(events, 'check')).toEqual([
      { kind: 'attempt', attempt: 1, from: 1, to: 3, end: 'retried' },
      { kind: 'attempt', attempt: 2, from: 8, to: 10, end: 'succeeded' },
    ]);
  });

  test('an attempt ends with its body, not with the commit of its output', () => {
    const events = journal(
      ['run_created', 0],
      ['step_succeeded', 9, execution('store', 1, 1, { durationMs: 2_000 })],
      ['step_started', 9, execution('send', 1, 9)],
      ['step_failed', 14, execution('send', 1, 9, { durationMs: 1_000, error: { code: 'E', message: 'm' } })],
    );
    expect(spansOf(events, 'store')).toEqual([
      { kind: 'attempt', attempt: 1, from: 1, to: 3, end: 'succeeded' },
    ]);
    expect(spansOf(events, 'send')).toEqual([
      { kind: 'attempt', attempt: 1, from: 9, to: 10, end: 'failed' },
    ]);
  });

  test('for any journal an attempt that was the only one of its step took no longer than the step', () => {
    fc.assert(
      fc.property(journals(), ({ events: stored }) => {
        const histories = new StepHistories();
        histories.add(stored.map((event) => eventView(event) as unknown as RunEvent));
        for (const { spans, durationMs } of histories.byKey.values()) {
          const [only, ...others] = spans;
          if (only?.to === undefined || others.length > 0 || only.kind === 'wait') continue;
          if (only.end !== 'succeeded' && only.end !== 'failed') continue;
          expect(only.to - only.from).toBeLessThanOrEqual(durationMs ?? 0);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('a reused step has no duration', () => {
    const events = journal(
      ['run_created', 0],
      [
        'step_reused',
        9,
        execution('check', 2, -500, { durationMs: 200_000, from: { runId: 'run_0', checkpoint: 4 } }),
      ],
    );
    expect(spansOf(events, 'check')).toEqual([
      { kind: 'attempt', attempt: 2, from: 9, to: 9, end: 'reused' },
    ]);
  });

  test('a step that asked shows its wait, and its answer is not an attempt', () => {
    const askingStep = execution('gate', 1, 2, { kind: 'approval' });
    const wait = { id: 'w', kind: 'approval', execution: askingStep, openedAt: iso(2) };
    const events = journal(
      ['run_created', 0],
      ['wait_opened', 2, { wait }],
      ['wait_resolved', 50, { waitId: 'w', decision: 'approve' }],
      ['step_succeeded', 50, { ...askingStep, durationMs: 48_000 }],
    );
    expect(spansOf(events, 'gate')).toEqual([
      { kind: 'wait', attempt: 1, from: 2, to: 50, end: 'succeeded' },
    ]);
  });

  test('an attempt delayed by a budget has not failed, and the end of a day is not an answer', () => {
    const askingStep = execution('ask', 1, 9);
    const error = { code: 'BUDGET_REACHED', message: 'others hold the rest' };
    const wait = {
      id: 'ask.1.1.day',
      kind: 'approval',
      purpose: 'budget',
      execution: askingStep,
      openedAt: iso(9),
    };
    const events = journal(
      ['run_created', 0],
      ['step_retry_scheduled', 3, execution('ask', 1, 3, { retryAt: iso(8), budget: true, error })],
      ['wait_opened', 9, { wait }],
      ['wait_resolved', 60, { waitId: wait.id }],
    );
    expect(spansOf(events, 'ask')).toEqual([
      { kind: 'attempt', attempt: 1, from: 3, to: 3, end: 'deferred' },
      { kind: 'wait', attempt: 1, from: 9, to: 60, end: 'resumed' },
    ]);
  });

  test('items follow their step if requested, and are counted otherwise', () => {
    const histories = new StepHistories();
    histories.add(
      journal(
        ['run_created', 0],
        ...[0, 1].map(
          (item) =>
            ['step_succeeded', 3, execution('read', 1, 1, { itemKey: String(item), durationMs: 1 })] as const,
        ),
        ['step_succeeded', 5, execution('after', 1, 4, { durationMs: 1 })],
      ),
    );
    expect(timelineRows(histories.byKey, true).map(({ key }) => key)).toEqual([
      'read',
      'read[0]',
      'read[1]',
      'after',
    ]);
    const folded = timelineRows(histories.byKey, false);
    expect(folded.map(({ key, items }) => [key, items])).toEqual([
      ['read', 2],
      ['after', 0],
    ]);
    expect(folded[0]?.steps[0]?.spans[0]?.from).toBe(T0 + 1_000);
  });

  test('operations of a flow have a row for each name, with the bars of all its turns, or one for each operation', () => {
    const operation = (itemKey: string, at: number) =>
      ['step_succeeded', at, execution('flow', 1, at - 1, { itemKey, durationMs: 1 })] as const;
    const histories = new StepHistories();
    histories.add(
      journal(
        ['run_created', 0],
        ['step_started', 0, execution('flow', 1, 0, { kind: 'flow' })],
        operation('ask', 2),
        operation('look-up', 4),
        operation('ask.2', 6),
      ),
    );
    const running = [{ step: 'flow[look-up.2]', revision: 1, attempt: 1, since: iso(7) }];
    const all = withRunningSpans(histories.byKey, running);
    const folded = timelineRows(all, false);
    expect(folded.map(({ text, items }) => [text, items])).toEqual([
      ['flow', 4],
      ['ask', 2],
      ['look-up', 2],
    ]);
    const starts = (at: number) =>
      folded[at]?.steps.flatMap(({ spans }) => spans.map(({ from }) => from - T0));
    expect(starts(1)).toEqual([1_000, 5_000]);
    expect(starts(2)).toEqual([3_000, 7_000]);
    expect(timelineRows(all, true).map(({ text }) => text)).toEqual([
      'flow',
      'ask',
      'look-up',
      'ask.2',
      'look-up.2',
    ]);
  });

  test('of an ended run has no bar that is running or waiting, and marks unknown ends as not loaded, for any part of a journal', () => {
    fc.assert(
      fc.property(journals(), fc.nat(), fc.boolean(), ({ events: stored }, at, withItems) => {
        const all = stored.map((event) => eventView(event) as unknown as RunEvent);
        const events = all.slice(0, 1 + (at % all.length));
        const isComplete = events.length === all.length;
        const histories = new StepHistories();
        histories.add(events);
        const loaded = { run: { running: [], waits: [] }, isOver: true, isComplete };
        const rows = rowsAsLoaded(timelineRows(histories.byKey, withItems), loaded);
        const spans = rows.flatMap(({ steps }) => steps.flatMap((step) => step.spans));
        const left = isComplete ? 'ended' : 'its end is not loaded';
        for (const span of spans) {
          expect(['running', 'waiting']).not.toContain(endText(span));
          if (span.to === undefined) expect(endText(span)).toBe(left);
        }
        const ends = dispatchesAsLoaded(lifeOf(events).dispatches, loaded).map(({ end }) => end);
        expect(ends).not.toContain('open');
        if (isComplete) expect(ends).not.toContain('not_loaded');
      }),
      { numRuns: 200 },
    );
  });

  test('of a live run, before all is loaded, keeps open only the bars that the run itself names', () => {
    const wait = { id: 'w1', kind: 'approval', execution: execution('ask', 1, 2), openedAt: iso(2) };
    const events = journal(
      ['run_created', 0],
      ['run_claimed', 1, claimed(1)],
      ['step_started', 1, execution('a', 1, 1)],
      ['step_started', 1, execution('b', 1, 1)],
      ['wait_opened', 2, { wait }],
      ['wait_opened', 2, { wait: { ...wait, id: 'w2', execution: execution('other', 1, 2) } }],
    );
    const histories = new StepHistories();
    histories.add(events);
    const running = [{ step: 'a', revision: 1, attempt: 1, since: iso(1) }];
    const run = { running, waits: [{ id: 'w1' }], lease: { epoch: 2 } } as unknown as Run;
    const loaded = { run, isOver: false, isComplete: false };
    const rows = rowsAsLoaded(timelineRows(histories.byKey, false), loaded);
    expect(rows.flatMap(({ steps }) => steps.flatMap(({ key, spans }) => [[key, spans[0]?.end]]))).toEqual([
      ['a', undefined],
      ['b', 'not_loaded'],
      ['ask', undefined],
      ['other', 'not_loaded'],
    ]);
    expect(dispatchesAsLoaded(lifeOf(events).dispatches, loaded)[0]?.end).toBe('not_loaded');
  });

  test('for any journal has ordered spans, none open at the end, and a line for each event', () => {
    fc.assert(
      fc.property(journals(), ({ events: stored }) => {
        const events = stored.map((event) => eventView(event) as unknown as RunEvent);
        const histories = new StepHistories();
        for (const event of events) histories.add(events.slice(0, event.seq));
        const isOver = events.some(({ type }) => /^run_(completed|failed|cancelled)$/.test(type));
        for (const { spans } of histories.byKey.values())
          for (const { from, to } of spans) {
            if (to !== undefined) expect(to).toBeGreaterThanOrEqual(from);
            else expect(isOver).toBe(false);
          }
        for (const { from, to, end } of lifeOf(events).dispatches) {
          expect(to ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(from);
          if (isOver) expect(end).not.toBe('open');
        }
        for (const event of events) expect(lineOf(event).text).not.toBe('');
      }),
      { numRuns: 200 },
    );
  });
});

test.each([
  ['a run that was queued', iso(0.163), 'times since creation, 163ms before the start'],
  ['a run that started at once', iso(0), 'times since creation'],
  ['a run that has not started', undefined, 'times since creation'],
])(
  'the origin of the times of %s is shown, because its duration counts from the start',
  (_, startedAt, text) => {
    expect(originText({ createdAt: iso(0), startedAt })).toBe(text);
  },
);
