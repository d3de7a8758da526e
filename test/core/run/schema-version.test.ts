/**
 * Versions of events and run documents: a worker of an earlier release, for example after a rollback, does not touch documents
 * that it would misread.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  COMMON_SCHEMA_VERSION,
  type EventData,
  type EventDraft,
} from '../../../packages/cairn/src/core/run/events.ts';
import { append, budgetQuestionOf, bySystem, claimed, created, opened, T0 } from './journal-drafts.ts';

const limits = fc.record(
  { deadlineAt: fc.constant(T0 + 60_000), budget: fc.constant({ operations: 5 }) },
  { requiredKeys: [] },
);
/** The first events of a run, and later ones, including events of newer releases. */
const beginning = fc.record({
  claim: limits,
  start: limits,
  day: fc.option(fc.constant('2026-05-17'), { nil: undefined }),
});

interface Drafted {
  readonly draft: EventDraft;
  /** True if release 0.2.0, which reads versions up to 2, would ignore a part of the event. */
  readonly isLater: boolean;
}

function drafted(draft: EventDraft, ...unknown: readonly unknown[]): Drafted {
  return { draft, isLater: unknown.some((member) => member !== undefined) };
}

const suspended: EventDraft = { type: 'suspend_requested', initiator: 'user', data: { reason: 'r' } };

test('release 0.2.0 refuses an event that it would fold wrongly, and every later state of the run', () => {
  fc.assert(
    fc.property(beginning, ({ claim, start, day }) => {
      let { state } = created();
      let isLater = false;
      const { data } = claimed(state) as { data: EventData['run_claimed'] };
      const question = opened(budgetQuestionOf('gate', day));
      for (const one of [
        drafted(bySystem('run_claimed', { ...data, ...claim }), claim.budget, claim.deadlineAt),
        drafted(suspended),
        drafted(bySystem('run_started', start), start.budget),
        drafted(question, day),
        drafted(bySystem('run_suspended', { status: 'awaiting_approval' })),
      ]) {
        const next = append(state, one.draft);
        isLater ||= one.isLater;
        expect(next.event.schemaVersion > COMMON_SCHEMA_VERSION).toBe(one.isLater);
        expect(next.state.schemaVersion > COMMON_SCHEMA_VERSION).toBe(isLater);
        state = next.state;
      }
    }),
  );
});
