import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { taskName } from '../../../packages/cairn/src/core/encoding/task-name.ts';
import { type EventDraft, isSettled } from '../../../packages/cairn/src/core/run/events.ts';
import { CHECKPOINT_VALUE_BYTES, SNAPSHOT_VALUE_BYTES } from '../../../packages/cairn/src/core/run/limits.ts';
import {
  checkpointOf,
  cut,
  stepRecordOf,
  TRACE_CHARS,
} from '../../../packages/cairn/src/core/run/records.ts';
import { assertFits, storedValueOf } from '../../../packages/cairn/src/core/run/values.ts';
import { append, failedRun, running as runningNow, settledStep } from './journal-drafts.ts';
import { journals } from './random-journal.ts';

const running = runningNow();
const error = { code: 'STEP_FAILED', message: 'no luck', retryable: true };

describe('a checkpoint', () => {
  const made: readonly [string, EventDraft, object | undefined][] = [
    [
      'is made of a step that succeeded, with its output',
      { type: 'step_succeeded', initiator: 'system', data: settledStep('a'), outputText: '[1]' },
      { boundary: 'step_completed', stepId: 'a', outcome: 'succeeded', outputText: '[1]', resumable: true },
    ],
    [
      'is made of a step that was skipped',
      {
        type: 'step_skipped',
        initiator: 'system',
        data: { ...settledStep('a'), reason: 'r' },
        outputText: 'null',
      },
      { boundary: 'step_completed', outcome: 'skipped', outputText: 'null' },
    ],
    [
      'is made of a step that was degraded, with the output it got',
      {
        type: 'step_degraded',
        initiator: 'system',
        data: { ...settledStep('a'), reason: 'r' },
        outputText: '7',
      },
      { boundary: 'step_completed', outcome: 'degraded', outputText: '7' },
    ],
    [
      'is made of a suspension',
      { type: 'run_suspended', initiator: 'system', data: { status: 'waiting_external' } },
      { boundary: 'suspended' },
    ],
    [
      'is made of the end of a run',
      failedRun(),
      { boundary: 'run_finished', outcome: 'failed', errorTrace: 'X: x' },
    ],
    [
      'is not made of a failed step: nothing may be resumed from it',
      { type: 'step_failed', initiator: 'system', data: { ...settledStep('a'), error } },
      undefined,
    ],
    [
      'is not made of a retry',
      { type: 'step_retry_scheduled', initiator: 'system', data: { ...settledStep('a'), retryAt: 9, error } },
      undefined,
    ],
    [
      'is not made of a release',
      { type: 'run_released', initiator: 'system', data: { reason: 'budget', inFlight: [] } },
      undefined,
    ],
  ];
  test.each(made)('%s', (_, draft, expected) => {
    const { event } = append(running, draft);
    const checkpoint = checkpointOf(event, running, draft);
    if (!expected) return expect(checkpoint).toBeUndefined();
    expect(checkpoint).toMatchObject({
      ...expected,
      seq: event.seq,
      parent: running.checkpointHead,
      planVersion: 1,
    });
  });

  test('is named by the folded state, and points to the previous one', () => {
    fc.assert(
      fc.property(journals(), ({ events, states }) => {
        let newest = 0;
        events.forEach((event, i) => {
          const checkpoint = checkpointOf(event, states[i - 1]);
          if (checkpoint) {
            expect(checkpoint.parent).toBe(newest);
            newest = checkpoint.seq;
          }
          expect(states[i]?.checkpointHead).toBe(newest);
        });
      }),
      { numRuns: 50 },
    );
  });
});

describe('a step record', () => {
  test('agrees with the folded state of the step', () => {
    const STATUS = {
      running: 'running',
      retrying: 'pending',
      waiting: 'waiting',
      again: 'pending',
      succeeded: 'succeeded',
      degraded: 'degraded',
      skipped: 'skipped',
      reused: 'succeeded',
      failed: 'failed',
    } as const;
    fc.assert(
      fc.property(journals(), ({ events, states }) => {
        events.forEach((event, i) => {
          const record = stepRecordOf(event, 1);
          if (!record) return;
          const step = states[i]?.steps.get(record.id);
          expect(record.status).toBe(step && STATUS[step.phase === 'done' ? step.outcome : step.phase]);
          expect(record.updatedAtMs).toBe(event.at);
          expect(record.durationMs).toBe(isSettled(event) ? event.data.durationMs : undefined);
          expect(record.checkpoint === undefined).toBe(checkpointOf(event, states[i - 1]) === undefined);
        });
      }),
      { numRuns: 50 },
    );
  });

  test('of a map item has the key of the item, and of a reuse counts as success', () => {
    const { event } = append(running, {
      type: 'step_reused',
      initiator: 'system',
      data: { ...settledStep('a', { itemKey: '7' }), from: { runId: 'r', checkpoint: 3 } },
      outputText: '1',
    });
    expect(stepRecordOf(event, 1)).toMatchObject({ id: 'a[7]', status: 'succeeded', checkpoint: event.seq });
  });

  test('keeps the trace of a failure, truncated, or its code and message', () => {
    const failed = (trace?: string) =>
      append(running, {
        type: 'step_failed',
        initiator: 'system',
        data: { ...settledStep('a'), error: { ...error, ...(trace === undefined ? {} : { trace }) } },
      }).event;
    expect(stepRecordOf(failed(), 1)?.errorTrace).toBe('STEP_FAILED: no luck');
    expect(stepRecordOf(failed('t'.repeat(9_000)), 1)?.errorTrace).toHaveLength(TRACE_CHARS);
  });
});

describe('values', () => {
  test('truncated text is never longer than the limit, and is well-formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, limit) => {
        const short = cut(text, limit);
        expect(short.length).toBeLessThanOrEqual(limit);
        expect(short.isWellFormed()).toBe(true);
        if (text.length <= limit) expect(short).toBe(text);
      }),
    );
  });

  test.each([
    ['a', 1],
    ['ü', 2],
    ['€', 3],
  ])('are counted in bytes of UTF-8: %s', (letter, bytes) => {
    const fits = letter.repeat(Math.floor(CHECKPOINT_VALUE_BYTES / bytes));
    expect(() => assertFits(fits, 'it')).not.toThrow();
    expect(() => assertFits(`${fits}${letter}`, 'it')).toThrow('the maximum is');
    const small = letter.repeat(Math.floor(SNAPSHOT_VALUE_BYTES / bytes));
    expect(storedValueOf(small, 7)).toEqual({ text: small });
    expect(storedValueOf(`${small}${letter}`, 7)).toEqual({ checkpoint: 7 });
  });

  test('a task name depends on run, position and time, and on nothing else', () => {
    expect(taskName('r', 1, 2)).toBe(taskName('r', 1, 2));
    const names = [taskName('r', 1, 2), taskName('r', 2, 2), taskName('r', 1, 3), taskName('q', 1, 2)];
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
  });
});
