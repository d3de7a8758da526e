import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EventDraft } from '../../../../packages/cairn/src/core/run/events.ts';
import { fold, reduce } from '../../../../packages/cairn/src/core/run/reduce/index.ts';
import { isOver, type RunState } from '../../../../packages/cairn/src/core/run/state.ts';
import { freeze } from '../../../../packages/cairn/src/memory/memory-database.ts';
import {
  append,
  claimed,
  created,
  failedRun,
  grownBy,
  orphaned,
  RUN_ID,
  resumed,
  running,
  settledStep,
  succeeded,
} from '../journal-drafts.ts';
import { ALL_TYPES, journals } from '../random-journal.ts';

describe('the fold', () => {
  test('of a journal equals the fold of any prefix continued with the rest (J5)', () => {
    fc.assert(
      fc.property(journals(), fc.nat(), ({ events, states }, cut) => {
        const at = 1 + (cut % events.length);
        const part = fold(RUN_ID, events.slice(0, at));
        expect(part).toEqual(states[at - 1]);
        expect(fold(RUN_ID, events.slice(at), part)).toEqual(states.at(-1));
      }),
      { numRuns: 100 },
    );
  });

  test('does not mutate its input', () => {
    fc.assert(
      fc.property(journals(), ({ events }) => {
        let state = freeze(fold(RUN_ID, events.slice(0, 1)));
        for (const event of events.slice(1)) state = freeze(reduce(state, freeze(event)));
      }),
      { numRuns: 50 },
    );
  });

  test('has head, hash and time of the last event, and always the same members in the same order', () => {
    const names = new Set<string>();
    fc.assert(
      fc.property(journals(), ({ events, states }) => {
        states.forEach((state, i) => {
          const event = events[i];
          expect([state.head, state.headHash, state.updatedAt]).toEqual([event?.seq, event?.hash, event?.at]);
          names.add(Object.keys(state).join());
        });
      }),
      { numRuns: 50 },
    );
    expect(names.size).toBe(1);
  });

  test('holds no lease in a waiting, interrupted or ended run, and never a smaller epoch', () => {
    fc.assert(
      fc.property(journals(), ({ states }) => {
        states.forEach((state, i) => {
          if (!['pending', 'running', 'replaying'].includes(state.status))
            expect(state.lease).toBeUndefined();
          if (state.lease) expect(state.lease.epoch).toBe(state.epoch);
          expect(state.epoch).toBeGreaterThanOrEqual(states[i - 1]?.epoch ?? 0);
          expect(state.checkpointHead).toBeLessThanOrEqual(state.head);
        });
      }),
      { numRuns: 50 },
    );
  });

  test('sets the terminal fields of an ended run, whose status never changes', () => {
    fc.assert(
      fc.property(journals(), ({ states }) => {
        const end = states.findIndex(isOver);
        if (end < 0) return;
        for (const state of states.slice(end)) {
          expect(state.status).toBe(states[end]?.status);
          expect(state.completedAt).toBeDefined();
          expect(state.durationMs).toBeGreaterThanOrEqual(0);
          expect(state.waits).toEqual([]);
        }
      }),
      { numRuns: 100 },
    );
  });
});

test('random journals contain every type of event, so that the properties above cover all', () => {
  const seen = new Set(
    fc.sample(journals(), { numRuns: 600, seed: 1 }).flatMap(({ events }) => events.map(({ type }) => type)),
  );
  expect([...seen].sort()).toEqual(Object.keys(ALL_TYPES).sort());
});

describe('an event that the state does not allow is refused:', () => {
  const { state: pending, event: first } = created();
  const ended = grownBy(running(), [failedRun()]);
  const done = grownBy(running(), [succeeded('a')]);
  const refused: readonly [string, RunState, EventDraft][] = [
    ['a claim with an old epoch', running(), { ...claimed(pending) }],
    [
      'an end of a run that never began',
      pending,
      { type: 'run_completed', initiator: 'system', data: { result: { text: '1' } } },
    ],
    ['a second end', ended, failedRun()],
    ['a resume of an ended run', ended, resumed()],
    ['a resume of a running run', running(), resumed()],
    ['a second end of a step', done, succeeded('a')],
    [
      'a start of a step that has ended',
      done,
      { type: 'step_started', initiator: 'system', data: settledStep('a') },
    ],
    [
      'an answer that nobody waits for',
      running(),
      { type: 'wait_resolved', initiator: 'user', data: { waitId: 'w' } },
    ],
    ['an interruption of an ended run', ended, orphaned(running())],
    [
      'a second run_created',
      pending,
      { type: 'run_created', initiator: 'api', data: first.data } as unknown as EventDraft,
    ],
  ];
  test.each(refused)('%s', (_, state, draft) => {
    expect(() => append(state, draft)).toThrow();
  });

  test('an event after a gap, and a repeated one, are refused', () => {
    const one = append(running(), succeeded('a'));
    const two = append(one.state, succeeded('b'));
    expect(() => reduce(running(), two.event)).toThrow('cannot follow');
    expect(() => reduce(two.state, two.event)).toThrow('cannot follow');
    expect(() => fold(RUN_ID, [])).toThrow('empty');
    expect(() => fold(RUN_ID, [one.event])).toThrow("begins with 'step_succeeded'");
  });
});
