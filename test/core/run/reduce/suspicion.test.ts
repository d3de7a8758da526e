import { describe, expect, test } from '@jest/globals';
import { endingDecision } from '../../../../packages/cairn/src/core/decisions/ending.ts';
import { endingFactsOf, MAX_CUT_OFF } from '../../../../packages/cairn/src/core/decisions/ending-facts.ts';
import {
  afterDeath,
  afterShutdown,
  SOON_MS,
} from '../../../../packages/cairn/src/core/run/reduce/suspicion.ts';
import { NO_STEP, type RunState } from '../../../../packages/cairn/src/core/run/state.ts';
import { append, bySystem, claimed, grownBy, running, settledStep, succeeded } from '../journal-drafts.ts';

const DEPLOYED = {
  available: true,
  isIdempotent: () => true,
  actsOncePerKey: () => false,
  isCompensable: () => false,
  onDoubt: 'fail',
} as const;

/** The run after the death of a shared worker, claimed alone. */
function suspect(): RunState {
  const state = running();
  const { lease } = state;
  if (!lease) throw new Error('the run has no lease');
  return { ...state, ...afterDeath(state), lease: { ...lease, aloneSince: state.head } };
}

const began = (key: string) => bySystem('step_started', settledStep(key));

/** Each number: this many bodies end alone, then a dispatch dies during the next one. Every body belongs to another step. */
function dying(endedBefore: readonly number[]): RunState {
  let state = suspect();
  let step = 0;
  const next = () => {
    step += 1;
    return `s${step}`;
  };
  for (const count of endedBefore) {
    for (let i = 0; i < count; i += 1) {
      const key = next();
      state = grownBy(state, [began(key), succeeded(key)]);
    }
    const key = next();
    state = grownBy(state, [began(key)]);
    state = grownBy({ ...state, ...afterDeath(state) }, [succeeded(key)]);
  }
  return state;
}

const lostWorkers = (state: RunState) => endingFactsOf(state, DEPLOYED).lostWorkers;

describe('deaths while dispatched alone, each during another step', () => {
  test.each([
    ['three in a row', [0, 0, 0], 3],
    ['three with eight bodies and the one cut off between', [8, 8, 8], 3],
    ['two in a row', [0, 0], undefined],
    ['ten with nine bodies and the one cut off between', Array(10).fill(9), undefined],
  ] as const)('%s', (_, endedBefore, times) => {
    expect(lostWorkers(dying(endedBefore))?.times).toBe(times);
  });

  test('record the step of the last death, which is a different one', () => {
    const found = lostWorkers(dying([0, 0, 0]));
    expect(found).toEqual({ times: 3, at: 's3', isSameStep: false });
  });
});

describe('a shutdown that interrupts a body', () => {
  const cutting = (...interrupted: string[]) => ({ interrupted, at: 0 });
  const company = ({ lease: _, ...rest }: RunState): RunState => rest;

  test('does not make the run a suspect the first time', () => {
    const { suspect: found } = afterShutdown(running(), cutting('s1'));
    expect(found).toMatchObject({ alone: false, shutDown: ['s1'] });
  });

  test('makes a former suspect run alone at once, without counting as a suspicion', () => {
    const before = company(suspect());
    const cleared: RunState = { ...before, suspect: { times: 1, alone: false, steps: [], deaths: [] } };
    expect(afterShutdown(cleared, cutting('s1')).suspect).toMatchObject({
      alone: true,
      steps: ['s1'],
      times: 1,
    });
  });
});

/** A dispatch claims the run, plays the given events, and is shut down after the given ms, which interrupts the given bodies. */
function shutDown(
  before: RunState,
  { alone = true, begins = [] as string[], ends = [] as string[], afterMs = 0 },
): RunState {
  const claim = claimed(before);
  let state = append(
    before,
    alone ? { ...claim, data: { ...claim.data, alone: true } as never } : claim,
  ).state;
  state = grownBy(
    state,
    begins.flatMap((key) => [began(key), ...(ends.includes(key) ? [succeeded(key)] : [])]),
  );
  const interrupted = begins.filter((key) => !ends.includes(key));
  const inFlight = interrupted.map((stepId) => ({ stepId, revision: 1 }));
  const released = bySystem('run_released', { reason: 'shutdown', inFlight, interrupted });
  return append(state, released, state.updatedAt + afterMs).state;
}

const unleased = ({ lease: _, ...state }: RunState): RunState => state;

describe('shutdowns of a run that is dispatched alone', () => {
  test('count as deaths soon after the start of the same body: the third fails the run', () => {
    let state = unleased(suspect());
    for (let i = 0; i < 3; i += 1) {
      expect(lostWorkers(state)).toBeUndefined();
      state = shutDown(state, { begins: ['s1'], afterMs: SOON_MS - 1 });
    }
    expect(lostWorkers(state)).toEqual({ times: 3, at: 's1', isSameStep: true });
  });

  test('fail a run whose body had run for long after ten in a row, but not after five', () => {
    let state = unleased(suspect());
    for (let i = 1; i < MAX_CUT_OFF; i += 1) {
      state = shutDown(state, { begins: ['s1'], afterMs: SOON_MS });
      expect(lostWorkers(state)).toBeUndefined();
    }
    state = shutDown(state, { begins: ['s1'], afterMs: SOON_MS });
    expect(endingDecision(endingFactsOf(state, DEPLOYED))).toMatchObject({
      kind: 'failed',
      error: {
        code: 'RUN_RESUME_FAILED',
        message: expect.stringContaining('was shut down 10 times while step'),
        stepId: 's1',
      },
    });
  });

  test('are forgotten when the interrupted body ends', () => {
    let state = unleased(suspect());
    for (let i = 1; i < MAX_CUT_OFF; i += 1) state = shutDown(state, { begins: ['s1'], afterMs: SOON_MS });
    state = shutDown(state, { begins: ['s1', 's2'], ends: ['s1'], afterMs: SOON_MS });
    expect(state.suspect?.cutOff).toEqual({ step: 's2', times: 1 });
  });

  test('count even if the bodies end successfully: the third fails the run', () => {
    let state = unleased(suspect());
    for (const key of ['s1', 's2', 's3']) {
      expect(lostWorkers(state)).toBeUndefined();
      state = shutDown(state, { begins: [key], ends: [key] });
      expect(state.suspect?.alone).toBe(true);
    }
    expect(lostWorkers(state)).toMatchObject({ times: 3, isSameStep: false });
  });

  test('do not count in a dispatch that ran no body', () => {
    const before = unleased(suspect());
    expect(shutDown(before, {}).suspect).toEqual(before.suspect);
  });
});

describe('a second process lost beside other runs soon after the first', () => {
  test.each([
    ['two shutdowns', (state: RunState) => shutDown(shutDown(state, { alone: false }), { alone: false })],
    [
      'a shutdown and a death',
      (state: RunState) => {
        const after = shutDown(state, { alone: false });
        return { ...after, ...afterDeath(after) };
      },
    ],
    [
      'a death and a shutdown',
      (state: RunState) => {
        const after = { ...state, ...afterDeath(state) };
        return shutDown(after, { alone: false });
      },
    ],
  ] as const)('%s: the run is dispatched alone until ten bodies have ended alone', (_, lose) => {
    const { suspect: _none, ...rest } = unleased(running());
    let state = lose(rest);
    expect(state.suspect?.alone).toBe(true);
    const claim = claimed(state);
    state = append(state, { ...claim, data: { ...claim.data, alone: true } as never }).state;
    for (let i = 1; i <= 10; i += 1) {
      expect(state.suspect?.alone).toBe(true);
      state = grownBy(state, [began(`s${i}`), succeeded(`s${i}`)]);
    }
    expect(state.suspect?.alone).toBe(false);
  });

  test('does not make the run a suspect if sixteen steps have ended in between', () => {
    const steps = Array.from({ length: 16 }, (_, i) => succeeded(`s${i}`));
    const after = grownBy(shutDown(unleased(running()), { alone: false }), steps);
    expect(shutDown(after, { alone: false }).suspect?.alone).toBe(false);
  });
});

describe('the death of a process after its dispatch alone released the run', () => {
  /** A dispatch claims the run, completes `begins`, and releases it; `died`: its task is redelivered without an answer. */
  function letGo(before: RunState, { alone = true, begins = [] as string[], died = true } = {}): RunState {
    const claim = claimed(before);
    const task = { name: 't', retryCount: before.epoch };
    const claiming = { ...claim, data: { ...claim.data, task, ...(alone && { alone }) } as never };
    const state = append(before, claiming).state;
    const { epoch } = state;
    return grownBy(state, [
      ...begins.flatMap((key) => [began(key), succeeded(key)]),
      bySystem('run_released', { reason: 'cleared', inFlight: [] }),
      ...(died ? [bySystem('worker_lost', { epoch })] : []),
    ]);
  }

  test('makes the run a suspect again, permanently', () => {
    const before = unleased(suspect());
    expect(letGo(before, { begins: ['s1'], died: false }).suspect?.alone).toBe(false);
    const after = letGo(before, { begins: ['s1'] });
    expect(after.suspect).toMatchObject({ times: 2, alone: true, inARow: { times: 1, endedSince: 0 } });
    expect(letGo(after, { begins: ['s2'], died: false }).suspect?.alone).toBe(true);
  });

  test('counts as a death alone: the third ends the run', () => {
    let state = unleased(suspect());
    for (const key of ['s1', 's2', 's3']) {
      expect(lostWorkers(state)).toBeUndefined();
      state = letGo(state, { begins: [key] });
    }
    expect(lostWorkers(state)).toEqual({ times: 3, at: NO_STEP, isSameStep: false });
  });

  test('is forgotten once ten bodies have ended alone, so that a long run killed from outside continues', () => {
    let state = unleased(suspect());
    for (let dispatch = 0; dispatch < 10; dispatch += 1) {
      state = letGo(state, { begins: Array.from({ length: 10 }, (_, i) => `s${dispatch}-${i}`) });
      expect(lostWorkers(state)).toBeUndefined();
      expect(state.suspect?.inARow?.times).toBe(1);
    }
  });

  test('counts once, only for that dispatch, and does not affect the current lease holder', () => {
    const once = letGo(unleased(suspect()), { begins: ['s1'], died: false });
    const lost = bySystem('worker_lost', { epoch: once.epoch });
    const held = append(once, claimed(once)).state;
    const after = append(held, lost).state;
    expect(after.lease).toEqual(held.lease);
    expect(after.suspect?.inARow?.times).toBe(1);
    expect(append(after, lost).state.suspect).toEqual(after.suspect);
    expect(append(held, bySystem('worker_lost', { epoch: 1 })).state.suspect).toEqual(held.suspect);
  });

  test('does not count for a dispatch that ran no body, ran beside others, or was shut down', () => {
    const before = unleased(suspect());
    expect(letGo(before).suspect).toEqual(before.suspect);
    expect(letGo(before, { alone: false, begins: ['s1'] }).suspect?.deaths).toEqual([]);
    expect(shutDown(before, { begins: ['s1'], ends: ['s1'] }).suspect?.left).toBeUndefined();
  });
});
