import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EventDraft } from '../../../functions/src/core/run/events.ts';
import { fold, reduce } from '../../../functions/src/core/run/reduce/index.ts';
import { isOver, type RunState } from '../../../functions/src/core/run/state.ts';
import { freeze } from '../../../functions/src/memory/memory-database.ts';
import {
  append,
  claimed,
  created,
  failedRun,
  grownBy,
  journals,
  RUN_ID,
  resumed,
  settledStep,
} from './random-journal.ts';

const started: EventDraft = { type: 'run_started', initiator: 'system', data: {} };

function running(): RunState {
  const { state } = created();
  return grownBy(state, [claimed(state), started]);
}

function orphaned(state: RunState): EventDraft {
  const { owner = '', epoch = 0 } = state.lease ?? {};
  return { type: 'orphan_detected', initiator: 'timeout', data: { owner, epoch, lastHeartbeatAt: 0 } };
}

const succeeded = (stepId: string, revision = 1): EventDraft => ({
  type: 'step_succeeded',
  initiator: 'system',
  data: settledStep(stepId, { revision }),
  outputText: '1',
});

describe('the fold', () => {
  test('of a journal equals that of any of its parts folded on (J5)', () => {
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

  test('changes no state that it was given', () => {
    fc.assert(
      fc.property(journals(), ({ events }) => {
        let state = freeze(fold(RUN_ID, events.slice(0, 1)));
        for (const event of events.slice(1)) state = freeze(reduce(state, freeze(event)));
      }),
      { numRuns: 50 },
    );
  });

  test('knows head, hash and time of the last event, and has no member that is undefined', () => {
    fc.assert(
      fc.property(journals(), ({ events, states }) => {
        states.forEach((state, i) => {
          const event = events[i];
          expect([state.head, state.headHash, state.updatedAt]).toEqual([event?.seq, event?.hash, event?.at]);
          expect(Object.values(state)).not.toContain(undefined);
        });
      }),
      { numRuns: 50 },
    );
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

  test('gives an ended run its terminal fields, and never another status', () => {
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

describe('an event that the state does not allow is refused', () => {
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

  test('an event that leaves a gap, and one that is there already', () => {
    const one = append(running(), succeeded('a'));
    const two = append(one.state, succeeded('b'));
    expect(() => reduce(running(), two.event)).toThrow('cannot follow');
    expect(() => reduce(two.state, two.event)).toThrow('cannot follow');
    expect(() => fold(RUN_ID, [])).toThrow('empty');
    expect(() => fold(RUN_ID, [one.event])).toThrow("begins with 'step_succeeded'");
  });
});

describe('what an event means', () => {
  test('an interruption takes the lease, and counts until the next checkpoint', () => {
    let state = running();
    for (let times = 1; times <= 2; times += 1) {
      state = grownBy(state, [orphaned(state)]);
      expect(state).toMatchObject({ status: 'interrupted', interruptions: times });
      expect(state.lease).toBeUndefined();
      state = grownBy(state, [resumed()]);
      state = grownBy(state, [claimed(state)]);
    }
    expect(state.resumeCount).toBe(2);
    expect(grownBy(state, [succeeded('a')])).toMatchObject({
      interruptions: 0,
      resumeCount: 2,
      checkpointHead: state.head + 1,
    });
  });

  test('a step that was left in flight is in flight until it ends', () => {
    const state = grownBy(running(), [
      {
        type: 'run_released',
        initiator: 'system',
        data: {
          reason: 'budget',
          inFlight: [
            { stepId: 'a', revision: 1 },
            { stepId: 'b', revision: 1 },
          ],
        },
      },
    ]);
    expect(state.inFlight).toHaveLength(2);
    expect(grownBy(state, [claimed(state), succeeded('a')]).inFlight).toEqual([{ stepId: 'b', revision: 1 }]);
  });

  test('a failed step leaves no checkpoint, and the first failure is the error of the run', () => {
    const fail = (stepId: string): EventDraft => ({
      type: 'step_failed',
      initiator: 'system',
      data: {
        ...settledStep(stepId),
        error: { code: 'STEP_FAILED', message: stepId, stepId, retryable: false },
      },
    });
    const before = running();
    const state = grownBy(before, [fail('a'), fail('b')]);
    expect(state.checkpointHead).toBe(before.checkpointHead);
    expect(state.error).toMatchObject({ stepId: 'a' });
  });

  test('an old revision of a step changes nothing', () => {
    const state = grownBy(running(), [succeeded('a', 2)]);
    expect(grownBy(state, [succeeded('a', 1)]).steps.get('a')).toEqual(state.steps.get('a'));
  });

  test('the first request to cancel is the one that counts', () => {
    const cancel = (reason: string): EventDraft => ({
      type: 'cancel_requested',
      initiator: 'user',
      actor: reason,
      data: { stopKind: 'user', reason },
    });
    const state = grownBy(running(), [cancel('one'), cancel('two')]);
    expect(state.cancellation).toMatchObject({ reason: 'one', actor: 'one' });
    expect(state.status).toBe('running');
  });

  test('a failed run keeps its open questions for its successor; others drop them', () => {
    const wait = { id: 'w', kind: 'approval', stepId: 'a', revision: 1, openedAt: 0 } as const;
    const asking = grownBy(running(), [{ type: 'wait_opened', initiator: 'system', data: { wait } }]);
    expect(grownBy(asking, [failedRun()])).toMatchObject({ waits: [], lastHandoff: [wait] });
    const cancelled = grownBy(asking, [
      { type: 'run_cancelled', initiator: 'user', data: { stopKind: 'halt' } },
    ]);
    expect(cancelled).toMatchObject({ waits: [], stopKind: 'halt' });
    expect(cancelled.lastHandoff).toBeUndefined();
  });
});
