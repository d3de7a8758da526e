import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventView } from '../../packages/cairn/src/api/views/documents.ts';
import { PLAIN } from '../../packages/cli/src/render/style.ts';
import { cells } from '../../packages/cli/src/render/width.ts';
import { lineOf, timelineLine } from '../../packages/cli/src/views/timeline.ts';
import type { RunEventView as Event } from '../../packages/client/src/follow.ts';
import { EVENT_TYPES, eventOf } from '../store/arbitrary-events.ts';

const AT = '2026-01-01T00:00:10.000Z';
const execution = { stepId: 'size', revision: 1, kind: 'step', attempt: 1, inputsHash: 'h', startedAt: AT };
const settled = {
  ...execution,
  outputHash: 'h',
  outputsSummary: '{"n":1}',
  resumable: true,
  idempotent: true,
  durationMs: 1_250,
};
const error = { code: 'STEP_TIMEOUT', message: 'it took too long\nat step', retryable: true };
const effect = { stepId: 'pay', revision: 1, effectId: 'k.0001', capabilityId: 'shop.refund' };

function said(type: string, data: object): string {
  const { mark, text, more } = lineOf({ type, data, at: AT } as Pick<Event, 'type' | 'data' | 'at'>);
  return [mark, text, ...(more ? [`(${more})`] : [])].join(' ');
}

describe('an event as text', () => {
  test.each([
    ['run_claimed', { owner: 'o', epoch: 3, expiresAt: AT }, '▶ dispatch 3 claimed the run'],
    ['step_started', { ...execution, attempt: 2, itemKey: '4' }, '▸ size[4] (attempt 2) started'],
    ['step_succeeded', settled, '✓ size (1.3 s · {"n":1})'],
    ['step_degraded', { ...settled, reason: 'no route' }, '~ size degraded: no route (1.3 s)'],
    [
      'step_skipped',
      { ...settled, reason: 'its condition was false' },
      '· size skipped (its condition was false)',
    ],
    [
      'step_reused',
      { ...settled, from: { runId: 'run_a', checkpoint: 7 } },
      '= size reused from run_a (checkpoint 7)',
    ],
    [
      'step_failed',
      { ...settled, revision: 2, error },
      '✗ size (revision 2) failed: STEP_TIMEOUT: it took too long (1.3 s)',
    ],
    [
      'step_retry_scheduled',
      { ...execution, retryAt: '2026-01-01T00:00:12.500Z', error },
      '↻ size failed: STEP_TIMEOUT: it took too long (retry in 2.5 s)',
    ],
    [
      'orphan_detected',
      { owner: 'o', epoch: 1, lastHeartbeatAt: '2026-01-01T00:00:04.000Z' },
      '☠ the worker of dispatch 1 died (no heartbeat for 6 s)',
    ],
    [
      'orphan_detected',
      { owner: 'o', epoch: 1, lastHeartbeatAt: '2026-01-01T00:00:04.000Z', why: 'redelivered' },
      '☠ the worker of dispatch 1 died (its task was redelivered)',
    ],
    [
      'orphan_detected',
      { owner: 'o', epoch: 1, lastHeartbeatAt: '2026-01-01T00:00:04.000Z', why: 'answered' },
      '☠ dispatch 1 ended without releasing the run',
    ],
    [
      'run_released',
      { reason: 'error', inFlight: [], error: { code: 'INTERNAL', message: 'no room' } },
      '‖ released (error) (INTERNAL: no room)',
    ],
    ['run_resumed', { reason: 'the drive died' }, '▶ resumed (the drive died)'],
    [
      'run_released',
      { reason: 'budget', inFlight: [{ stepId: 'a', revision: 1 }] },
      '‖ released (budget) (running: a)',
    ],
    [
      'wait_opened',
      {
        wait: {
          id: 'ask.1',
          kind: 'approval',
          execution: { ...execution, stepId: 'ask' },
          detail: { question: 'Merge?' },
          dueAt: '2026-01-02T00:00:10.000Z',
        },
      },
      '? ask waits for approval: Merge? (until 2026-01-02 00:00:10 UTC (1 d))',
    ],
    [
      'wait_opened',
      { wait: { id: 'w', kind: 'event', execution, name: 'ci', key: '4f' } },
      '… size waits for event ci for 4f',
    ],
    [
      'wait_opened',
      { wait: { id: 'w', kind: 'approval', purpose: 'doubt', execution } },
      '? size was interrupted and may have acted: a person must decide how to continue',
    ],
    [
      'wait_opened',
      {
        wait: {
          id: 'w',
          kind: 'approval',
          purpose: 'effect',
          execution,
          detail: { question: 'Was it paid?' },
        },
      },
      '? Was it paid?',
    ],
    ['wait_opened', { wait: { id: 'w', kind: 'quorum', execution } }, '… size waits'],
    [
      'wait_resolved',
      { waitId: 'ask.1', decision: 'reject', payload: { note: 'no' } },
      '✗ ask.1: reject (no)',
    ],
    [
      'wait_heartbeat',
      { waitId: 'w.1', dueAt: '2026-01-01T00:05:10.000Z' },
      '♥ w.1: heartbeat (until 2026-01-01 00:05:10 UTC (5 min))',
    ],
    [
      'wait_resolved',
      { waitId: 'ask.1', decision: 'approve_with_waiver', payload: { note: 'once' } },
      '✓ ask.1: approve with waiver (once)',
    ],
    ['wait_resolved', { waitId: 'w.1', signalId: 'e.1' }, '← w.1 answered (e.1)'],
    ['wait_resolved', { waitId: 'a.1.2.day' }, '▸ a.1.2.day: resumed, the day of the budget has ended'],
    ['wait_resolved', { waitId: 'a.1.2.day', decision: 'approve' }, '✓ a.1.2.day: approve'],
    ['effect_attempted', { ...effect, attempt: 1 }, '→ pay calls shop.refund (k.0001)'],
    ['effect_settled', { ...effect, outcome: 'in_doubt' }, '? pay: shop.refund in doubt (k.0001)'],
    [
      'effect_settled',
      { ...effect, outcome: 'reused', by: 'lookup', originEffectId: 'j.0001' },
      '= pay: shop.refund reused (reported by the receiver · j.0001)',
    ],
    [
      'run_failed',
      { error: { ...error, stepId: 'size' } },
      '✗ failed: STEP_TIMEOUT: it took too long (size)',
    ],
    ['a_type_of_tomorrow', { x: 1 }, '• a_type_of_tomorrow ({"x":1})'],
  ])('%s', (type, data, line) => {
    expect(said(type, data)).toBe(line);
  });

  test.each(EVENT_TYPES)('%s, with any data, fits one line', (type) => {
    fc.assert(
      fc.property(eventOf(type), fc.integer({ min: 40, max: 120 }), (event, columns) => {
        const view = eventView(event) as unknown as Event;
        const wide = timelineLine(view, '2026-01-01T00:00:00.000Z', { style: PLAIN, columns: undefined });
        expect(wide.slice(0, -1)).not.toMatch(/\n|undefined|NaN|\[object/);
        const fitted = timelineLine(view, '2026-01-01T00:00:00.000Z', { style: PLAIN, columns });
        expect(cells(fitted.trimEnd())).toBeLessThanOrEqual(columns);
      }),
      { numRuns: 30 },
    );
  });
});
