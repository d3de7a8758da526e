import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  assertEventFits,
  boundedDraft,
  grouped,
  MAX_EVENT_DATA_BYTES,
} from '../../../packages/cairn/src/core/run/bounded.ts';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';

const long = '界'.repeat(100_000);

describe('the data of an event', () => {
  test('is the same object if it is within its bounds', () => {
    const draft: EventDraft = {
      type: 'run_failed',
      initiator: 'system',
      data: { error: { code: 'STEP_FAILED', message: 'no', retryable: false } },
    };
    expect(boundedDraft(draft)).toBe(draft);
  });

  test('is truncated in texts of authors, policies and people', () => {
    const error = { code: long, message: long, trace: long, stepId: long, retryable: false };
    const drafts: EventDraft[] = [
      { type: 'run_failed', initiator: 'system', data: { error } },
      { type: 'cancel_requested', initiator: 'user', data: { stopKind: 'user', reason: long } },
      {
        type: 'policy_evaluated',
        initiator: 'policy',
        data: { allowed: false, policySnapshotId: long, reason: long },
      },
    ];
    for (const draft of drafts) {
      const { data } = boundedDraft(draft);
      expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(30_000);
      expect(Object.keys(data)).toEqual(Object.keys(draft.data));
      expect(JSON.stringify(data)).toContain('…');
    }
  });

  test('is refused with its event type if its document would be too large', () => {
    const draft: EventDraft = { type: 'run_resumed', initiator: 'system', data: { reason: 'again' } };
    expect(() => assertEventFits(draft, MAX_EVENT_DATA_BYTES)).not.toThrow();
    expect(() => assertEventFits(draft, MAX_EVENT_DATA_BYTES + 1)).toThrow(
      expect.objectContaining({
        code: 'RUN_TOO_LARGE',
        message: expect.stringContaining(`the maximum is ${MAX_EVENT_DATA_BYTES}`),
      }),
    );
  });
});

test('is split into groups in order, and only a single larger item exceeds the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 30 })), fc.integer({ min: 1, max: 50 }), (sizes, most) => {
      const groups = grouped(sizes, (size) => size, most);
      expect(groups.flat()).toEqual(sizes);
      for (const group of groups) {
        expect(group.length).toBeGreaterThan(0);
        const sum = group.reduce((a, b) => a + b, 0);
        expect(sum <= most || group.length === 1).toBe(true);
      }
    }),
  );
});
