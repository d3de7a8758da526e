import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import {
  askingSince,
  endedInDoubt,
  questionsOf,
} from '../../../packages/cairn/src/core/run/open-questions.ts';
import { isOver, type RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { mustWriteSnapshot } from '../../../packages/cairn/src/core/run/wake.ts';
import {
  bySystem,
  failedRun,
  grownBy,
  opened,
  orphaned,
  questionOf,
  running,
  settledStep,
  T0,
  waitOf,
} from './journal-drafts.ts';
import { journals } from './random-journal.ts';

const leased = running();
const runAskingAt = (...openedAt: readonly number[]) =>
  grownBy(
    leased,
    openedAt.map((at, i) => opened(questionOf(`s${i}`, { id: `s${i}`, openedAt: at }))),
  );
const { outputHash: _, ...sent } = { ...settledStep('send'), effectId: 'f', capabilityId: 'c' };
const attempted = bySystem('effect_attempted', sent);
const acting = grownBy(leased, [attempted]);
const cancelled = bySystem('run_cancelled', { stopKind: 'user' });
const asksToCancel: EventDraft = {
  type: 'cancel_requested',
  initiator: 'user',
  actor: 'u',
  data: { stopKind: 'user' },
};
const superseded: EventDraft = { type: 'run_superseded', initiator: 'user', data: { by: 'run_2' } };
const END = T0 + 9_000;

describe('the start of the oldest open question', () => {
  test.each<[string, RunState, number | undefined]>([
    ['a run that waits for nothing', leased, undefined],
    [
      'one that waits for an event, which no person answers',
      grownBy(leased, [opened(waitOf('a'))]),
      undefined,
    ],
    [
      'the oldest of its questions, whichever was written down first',
      runAskingAt(T0 + 7, T0 + 3, T0 + 5),
      T0 + 3,
    ],
    [
      'what is left when the oldest was answered',
      grownBy(runAskingAt(T0 + 3, T0 + 5), [
        bySystem('wait_resolved', { waitId: 's0', decision: 'approve', payloadText: '{}' }),
      ]),
      T0 + 5,
    ],
    ['a question whose drive died: it is open', grownBy(runAskingAt(T0 + 3), [orphaned(leased)]), T0 + 3],
    [
      'a doubt about a step',
      grownBy(leased, [opened(questionOf('s0', { openedAt: T0 + 2, purpose: 'doubt' }))]),
      T0 + 2,
    ],
    [
      'one that is being cancelled: no answer would be taken',
      grownBy(runAskingAt(T0 + 3), [asksToCancel]),
      undefined,
    ],
    [
      'one that undoes what it did, likewise',
      grownBy(runAskingAt(T0 + 3), [bySystem('compensation_started', { steps: [] })]),
      undefined,
    ],
    ['one that failed with its question open', grownBy(runAskingAt(T0 + 3), [failedRun()]), undefined],
    ['one that acts', acting, undefined],
    ['one that failed while it acted: since its end', grownBy(acting, [failedRun()], END), END],
    ['one that was cancelled while it acted', grownBy(acting, [cancelled], END), END],
    [
      'one that learned what became of it before it ended',
      grownBy(acting, [bySystem('effect_settled', { ...sent, outcome: 'recorded' }), failedRun()], END),
      undefined,
    ],
    [
      'one that another run goes on for, which may end before it finds out',
      grownBy(acting, [failedRun(), superseded], END),
      END,
    ],
  ])('%s', (_name, state, since) => {
    expect(askingSince(state)).toBe(since);
  });

  test('is a time in the run, and is set exactly if there is an open question', () => {
    fc.assert(
      fc.property(journals(), ({ states }) => {
        for (const state of states) {
          const since = askingSince(state);
          const asks = isOver(state) ? endedInDoubt(state) : questionsOf(state).length > 0;
          expect([state.status, since !== undefined]).toEqual([state.status, asks]);
          if (since !== undefined) expect(since).toBeLessThanOrEqual(state.updatedAt);
        }
      }),
    );
  });

  test('is current, because a commit that opens or answers a question writes the snapshot', () => {
    fc.assert(
      fc.property(journals(), ({ states }) => {
        for (const [i, after] of states.entries()) {
          const before = states[i - 1];
          if (!before || askingSince(before) === askingSince(after)) continue;
          // The snapshot may show up to a second later that a run is about to end.
          const isAboutToEnd = before.waits === after.waits && !isOver(after);
          if (!isAboutToEnd) expect(mustWriteSnapshot(before, after)).toBe(true);
        }
      }),
    );
  });
});
