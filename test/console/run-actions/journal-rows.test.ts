import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventView } from '../../../packages/cairn/src/api/views/documents.ts';
import { isBoundary } from '../../../packages/cairn/src/core/run/records.ts';
import {
  facetsOf,
  gistOf,
  journalRows,
  wantedRows,
} from '../../../packages/console/src/pages/run/journal/rows.ts';
import type { RunEvent } from '../../../packages/console/src/pages/run/live/events.ts';
import { journals } from '../../core/run/random-journal.ts';

const shown = (events: readonly unknown[]) =>
  events.map((event) => eventView(event as never) as unknown as RunEvent);

describe('the rows of a journal', () => {
  test('show the same status change and checkpoint of each event as the fold', () => {
    fc.assert(
      fc.property(journals(), ({ events, states }) => {
        const rows = journalRows(shown(events));
        let status = 'pending';
        for (const [at, row] of rows.entries()) {
          const after = states[at]?.status ?? '';
          expect(row.moved).toEqual(after === status ? undefined : { from: status, to: after });
          expect(row.isCheckpoint).toBe(isBoundary(events[at] as never));
          status = after;
        }
      }),
      { numRuns: 100 },
    );
  });

  const event = (seq: number, type: string, data: object): RunEvent =>
    ({ seq, type, data, at: '2026-01-01T00:00:00.000Z', initiator: 'system' }) as unknown as RunEvent;
  const rows = journalRows([
    event(1, 'run_created', { type: 't' }),
    event(2, 'step_started', { stepId: 'check', itemKey: 'a' }),
    event(3, 'wait_opened', { wait: { id: 'ask.1', kind: 'approval', execution: { stepId: 'ask' } } }),
    event(4, 'wait_resolved', { waitId: 'ask.1', decision: 'approve' }),
    event(5, 'of_a_newer_version', { stepId: 'check' }),
  ]);

  test('name the step of an event; for an answer, the step that asked', () => {
    expect(rows.map(({ step }) => step)).toEqual([undefined, 'check[a]', 'ask', 'ask', 'check']);
  });

  test('are filtered by type and step', () => {
    const seqs = (wanted: { type?: string; step?: string }) =>
      wantedRows(rows, wanted).map((row) => row.event.seq);
    expect(seqs({})).toEqual([1, 2, 3, 4, 5]);
    expect(seqs({ step: 'ask' })).toEqual([3, 4]);
    expect(seqs({ step: 'ask', type: 'wait_opened' })).toEqual([3]);
    expect(facetsOf(rows).steps).toEqual([
      ['check[a]', 1],
      ['ask', 2],
      ['check', 1],
    ]);
  });

  test.each([
    [{ error: { code: 'BROKEN', message: 'no paper' } }, 'BROKEN: no paper'],
    [{ decision: 'approve' }, 'approve'],
    [{ capabilityId: 'mail.send', outcome: 'recorded' }, 'mail.send · recorded'],
    [{ wait: { kind: 'event', name: 'paid' } }, 'event · paid'],
    [{ reason: 7, name: '' }, ''],
  ])('say the most telling of %j', (data, gist) => expect(gistOf(event(1, 'x', data))).toBe(gist));
});
