import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ATTENDED,
  type EndingDecision,
  type EndingFacts,
  endingDecision,
} from '../../../packages/cairn/src/core/decisions/ending.ts';
import { T0 } from '../run/journal-drafts.ts';

const cancellation = { stopKind: 'halt', requestedAt: T0, actor: 'ann' } as const;
const failure = { code: 'RUN_TIMEOUT', message: 'too long', retryable: false };

interface Situation {
  readonly name: string;
  readonly facts: Partial<EndingFacts>;
  readonly ending: EndingDecision;
}

/** In order of precedence. */
const SITUATIONS: readonly Situation[] = [
  {
    name: 'another drive has it',
    facts: { leasedByAnother: true },
    ending: { kind: 'continue', because: 'leased_by_another' },
  },
  {
    name: 'somebody asked for its end',
    facts: { cancellation },
    ending: { kind: 'cancelled', cancellation },
  },
  {
    name: 'its plan is not deployed',
    facts: { isDeployed: false },
    ending: { kind: 'continue', because: 'without_plan' },
  },
  {
    name: 'it lost its worker too often',
    facts: { lostWorkers: { times: 5, at: 's1', isSameStep: true } },
    ending: {
      kind: 'failed',
      because: 'lost_workers',
      error: {
        code: 'RUN_RESUME_FAILED',
        message: "the run was dispatched alone and its worker died 5 times while step 's1' was under way",
        stepId: 's1',
        retryable: false,
      },
    },
  },
  {
    name: 'it is failing',
    facts: { failure },
    ending: { kind: 'failed', because: 'failure', error: failure },
  },
  {
    name: 'its drive died while a question was open',
    facts: { questionOpen: true },
    ending: { kind: 'continue', because: 'question_open' },
  },
  {
    name: 'a step is in doubt',
    facts: { inDoubt: ['s2', 's3'] },
    ending: {
      kind: 'failed',
      because: 'in_doubt',
      error: {
        code: 'RUN_ORPHANED',
        message: "step 's2' was running when its worker died and is not idempotent: it may have acted",
        stepId: 's2',
        retryable: false,
      },
    },
  },
  {
    name: 'nothing was ever kept of it',
    facts: { neverSaved: true },
    ending: {
      kind: 'failed',
      because: 'never_saved',
      error: {
        code: 'RUN_ORPHANED',
        message: 'the run lost its worker before its first checkpoint',
        retryable: true,
      },
    },
  },
  { name: 'all its steps have ended', facts: { allEnded: true }, ending: { kind: 'completed' } },
];

const pairs = SITUATIONS.flatMap((first, index) =>
  SITUATIONS.slice(index + 1).map((later) => [first.name, later.name, first, later] as const),
);

describe('a run that waits for its children to end', () => {
  const facts = { ...ATTENDED, childrenOpen: true };

  test.each([false, true])('is cancelled or fails after them (compensations due: %s)', (undoDue) => {
    expect(endingDecision({ ...facts, undoDue, cancellation })).toEqual({
      kind: 'continue',
      because: 'children_open',
      end: { kind: 'cancelled', cancellation },
    });
    expect(endingDecision({ ...facts, undoDue, failure })).toEqual({
      kind: 'continue',
      because: 'children_open',
      end: { kind: 'failed', because: 'failure', error: failure },
    });
  });

  test('does not wait during compensation, or if it kills its workers', () => {
    expect(endingDecision({ ...facts, compensating: true, failure })).toMatchObject({ kind: 'failed' });
    const lostWorkers = { times: 5, at: 's1', isSameStep: true };
    expect(endingDecision({ ...facts, lostWorkers })).toMatchObject({
      kind: 'failed',
      because: 'lost_workers',
    });
    expect(endingDecision(facts)).toEqual({ kind: 'continue' });
  });
});

describe('how a run ends', () => {
  test.each(SITUATIONS.map((one) => [one.name, one] as const))('if %s', (_, { facts, ending }) => {
    expect(endingDecision({ ...ATTENDED, ...facts })).toEqual(ending);
  });

  test.each(pairs)('%s takes precedence: %s', (_first, _later, { facts, ending }, later) => {
    expect(endingDecision({ ...ATTENDED, ...later.facts, ...facts })).toEqual(ending);
  });

  test('it continues if none of these holds, even if compensations would be due', () => {
    for (const undoDue of [false, true])
      expect(endingDecision({ ...ATTENDED, undoDue })).toEqual({ kind: 'continue' });
  });

  test('one question covers all steps in doubt, if the workflow sets onDoubt to ask', () => {
    const facts = { ...ATTENDED, inDoubt: ['s2', 's3'], onDoubt: 'ask', undoDue: true } as const;
    expect(endingDecision(facts)).toEqual({ kind: 'continue', because: 'in_doubt', steps: ['s2', 's3'] });
  });
});

describe('its completed steps are undone first', () => {
  const undone = SITUATIONS.filter(({ name }) =>
    [
      'somebody asked for its end',
      'it lost its worker too often',
      'it is failing',
      'a step is in doubt',
    ].includes(name),
  );

  test.each(undone.map((one) => [one.name, one] as const))('if %s', (_, { facts, ending }) => {
    expect(endingDecision({ ...ATTENDED, ...facts, undoDue: true })).toEqual({
      kind: 'undo_first',
      end: ending,
    });
  });

  test.each([
    ['it was cancelled, and kills its workers', { cancellation, compensating: false }, 'cancelled'],
    ['it was its undoing that killed them', { compensating: true }, 'failed'],
  ] as const)('but not if %s', (_, facts, kind) => {
    const lostWorkers = { times: 3, at: 's1', isSameStep: true };
    expect(endingDecision({ ...ATTENDED, lostWorkers, undoDue: true, ...facts })).toMatchObject({ kind });
  });
});

describe('a cancelled run whose plan is not deployed', () => {
  const facts = { ...ATTENDED, isDeployed: false, cancellation };
  const held = { kind: 'continue', because: 'without_plan' };
  const ends = { kind: 'cancelled' };

  test.each([
    ['is held without its plan if a compensation is due', { undoDue: true }, held],
    ['is held without its plan if children have to end first', { childrenOpen: true }, held],
    ['ends if nothing is', {}, ends],
    [
      'ends if it kills its workers',
      { undoDue: true, lostWorkers: { times: 5, at: 's1', isSameStep: true } },
      ends,
    ],
    [
      'ends if it is to end without that',
      { undoDue: true, cancellation: { ...cancellation, withoutUndo: true } },
      ends,
    ],
    [
      'ends before its children if it is to end without that',
      { childrenOpen: true, cancellation: { ...cancellation, withoutUndo: true } },
      ends,
    ],
  ] as const)('%s', (_, more, ending) => {
    expect(endingDecision({ ...facts, ...more })).toMatchObject(ending);
  });
});

test('is not compensated if it ends without compensations, although its plan is deployed', () => {
  const request = { ...cancellation, withoutUndo: true as const };
  expect(endingDecision({ ...ATTENDED, undoDue: true, cancellation: request })).toEqual({
    kind: 'cancelled',
    cancellation: request,
  });
});

test('in any state, a cancel takes effect once compensations are possible, and only a successful run completes', () => {
  const random: fc.Arbitrary<EndingFacts> = fc.record({
    leasedByAnother: fc.boolean(),
    cancellation: fc.option(fc.constant(cancellation), { nil: undefined }),
    undoDue: fc.boolean(),
    compensating: fc.boolean(),
    isDeployed: fc.boolean(),
    lostWorkers: fc.option(fc.constant({ times: 6, at: 's1', isSameStep: true }), { nil: undefined }),
    failure: fc.option(fc.constant(failure), { nil: undefined }),
    questionOpen: fc.boolean(),
    inDoubt: fc.subarray(['s2', 's3']),
    onDoubt: fc.constantFrom('fail', 'ask'),
    neverSaved: fc.boolean(),
    childrenOpen: fc.constant(false),
    allEnded: fc.boolean(),
  });
  const goesBadly = (facts: EndingFacts) =>
    Boolean(facts.lostWorkers || facts.failure || facts.inDoubt.length > 0 || facts.neverSaved);
  fc.assert(
    fc.property(random, (facts) => {
      const ending = endingDecision(facts);
      const end = ending.kind === 'undo_first' ? ending.end : ending;
      const canBeUndone = facts.isDeployed || !facts.undoDue || facts.lostWorkers !== undefined;
      expect(end.kind === 'cancelled').toBe(
        !facts.leasedByAnother && facts.cancellation !== undefined && canBeUndone,
      );
      if (ending.kind === 'undo_first') expect(facts.undoDue).toBe(true);
      if (end.kind === 'failed') expect(goesBadly(facts)).toBe(true);
      if (end.kind === 'completed') expect([facts.allEnded, goesBadly(facts)]).toEqual([true, false]);
    }),
    { numRuns: 500 },
  );
});
