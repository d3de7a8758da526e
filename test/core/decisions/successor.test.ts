import { describe, expect, test } from '@jest/globals';
import {
  type PlannedStep,
  planSuccessor,
  type RecordedStep,
  type SuccessorPlan,
} from '../../../packages/cairn/src/core/decisions/successor.ts';
import { inputsHash } from '../../../packages/cairn/src/core/encoding/fingerprint.ts';
import { sha256Hex } from '../../../packages/cairn/src/core/encoding/hash.ts';
import { buildGraph } from '../../../packages/cairn/src/core/graph/graph.ts';
import type { EventDraft, StepSettled } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { bySystem, failedStep, grownBy, running, settledStep } from '../run/journal-drafts.ts';

const INPUT = sha256Hex('{}');
const RUN = { type: 'flow', planVersion: 1, inputHash: INPUT };

/** first → second → third, and a set beside them. */
const STEPS: readonly PlannedStep[] = [
  { id: 'first', kind: 'step', needs: {}, resumable: true, undoesItems: false },
  { id: 'second', kind: 'step', needs: { first: 'first' }, resumable: true, undoesItems: false },
  { id: 'third', kind: 'step', needs: { second: 'second' }, resumable: true, undoesItems: false },
  { id: 'set', kind: 'map', needs: {}, resumable: true, undoesItems: true },
];
const graph = buildGraph(STEPS.map(({ id, needs }) => ({ id, needs: Object.values(needs) })));

interface Source {
  /** Outcomes of its steps in order: `first`, or `set[0]`; with deviations from the default. */
  readonly did: readonly (readonly [key: string, more?: Partial<StepSettled>])[];
  /** Further events. */
  readonly later?: readonly EventDraft[];
  readonly end?: Partial<RunState>;
}

function settledOf(key: string, more: Partial<StepSettled> = {}): StepSettled {
  const [stepId = '', itemKey] = key.split(/[[\]]/);
  const step = STEPS.find(({ id }) => id === stepId);
  const needs = Object.fromEntries(
    Object.entries(step?.needs ?? {}).map(([name, id]) => [name, sha256Hex(id)]),
  );
  const revision = more.revision ?? 1;
  const of = { ...RUN, input: INPUT, stepId, itemKey, revision, needs };
  return {
    ...(settledStep(stepId) as StepSettled),
    ...(itemKey === undefined ? {} : { itemKey }),
    inputsHash: inputsHash(of),
    outputHash: sha256Hex(stepId),
    ...more,
  };
}

function planned({ did, later = [], end }: Source, more: Partial<typeof RUN> & { fromStep?: string } = {}) {
  const drafts = did.map(([key, settled]) => bySystem('step_succeeded', settledOf(key, settled), '1'));
  const before = grownBy(running(), drafts);
  const recorded = new Map<number, RecordedStep>();
  did.forEach(([key, settled], i) => {
    const seq = before.head - did.length + 1 + i;
    const from = { runId: before.id, checkpoint: seq };
    recorded.set(seq, { seq, data: settledOf(key, settled), skipped: false, from });
  });
  const state = { ...grownBy(before, later), ...RUN, ...end };
  const run = { ...RUN, ...more, inputHashOf: new Map(), graph, steps: STEPS };
  return planSuccessor(run, { end: state, asOf: state, recorded });
}

function told({ steps }: SuccessorPlan): Record<string, string> {
  return Object.fromEntries(
    steps.map((one) => [one.id, one.action === 'reused' ? 'reused' : `${one.why} ${one.revision}`]),
  );
}

const ALL = [['first'], ['second'], ['third'], ['set[0]'], ['set']] as const;
const error = { code: 'X', message: 'x', retryable: false };
const REUSED = { first: 'reused', second: 'reused', third: 'reused', set: 'reused' };

describe('a step of an ended run', () => {
  test.each<[string, Source, Partial<typeof RUN> & { fromStep?: string }, Record<string, string>]>([
    ['is taken over if it would see the same', { did: ALL }, {}, {}],
    [
      'runs if it never began, and so does what needs it',
      { did: [['first'], ['set']] },
      {},
      { second: 'not_reached 1', third: 'not_reached 1' },
    ],
    [
      'runs if it failed',
      { did: [['first'], ['set']], later: [failedStep('second')] },
      {},
      { second: 'failed 1', third: 'not_reached 1' },
    ],
    [
      'runs if it was chosen, and so does what follows it',
      { did: ALL },
      { fromStep: 'second' },
      { second: 'chosen 1', third: 'follows_chosen 1' },
    ],
    [
      'runs if it is not to be resumed',
      { did: [['first', { resumable: false }], ['second'], ['third'], ['set']] },
      {},
      { first: 'not_resumable 1', second: 'needs_run 1', third: 'needs_run 1' },
    ],
    [
      'runs if it saw something else',
      { did: [['first'], ['second', { inputsHash: 'f'.repeat(64) }], ['third'], ['set']] },
      {},
      { second: 'changed 1', third: 'needs_run 1' },
    ],
    [
      'runs if the input is another, as does every other',
      { did: ALL },
      { inputHash: sha256Hex('[]') },
      { first: 'changed 1', second: 'needs_run 1', third: 'needs_run 1', set: 'changed 1' },
    ],
    [
      'runs if a side effect of it is in doubt',
      { did: ALL, end: { effects: [{ effectId: 'e', step: 'second', revision: 1, capabilityId: 'c' }] } },
      {},
      { second: 'effect_in_doubt 1', third: 'needs_run 1' },
    ],
    [
      'runs as its next revision if it was undone',
      { did: ALL, later: [bySystem('step_compensated', { stepId: 'second', revision: 1 })] },
      {},
      { second: 'undone 2', third: 'needs_run 1' },
    ],
    [
      'does so too if it could not be undone',
      { did: ALL, later: [bySystem('compensation_failed', { stepId: 'second', revision: 1, error })] },
      {},
      { second: 'undo_failed 2', third: 'needs_run 1' },
    ],
    [
      'runs if an item of it was undone',
      { did: ALL, later: [bySystem('step_compensated', { stepId: 'set', itemKey: '0', revision: 1 })] },
      {},
      { set: 'undone 2' },
    ],
    [
      'is taken over if a person took it as done, and nothing it could have seen is another',
      { did: [['first', { inputsHash: '' }], ['second'], ['third'], ['set']] },
      {},
      {},
    ],
    [
      'runs again if a person took it as done of another input',
      { did: [['first', { inputsHash: '' }]] },
      { inputHash: sha256Hex('[]') },
      { first: 'changed 1', second: 'not_reached 1', third: 'not_reached 1', set: 'not_reached 1' },
    ],
  ])('%s', (_, source, more, expected) => {
    expect(told(planned(source, more))).toEqual({ ...REUSED, ...expected });
  });
});

describe('items that a successor takes over', () => {
  const begun = bySystem('step_started', settledOf('set'));
  const keys = (plan: SuccessorPlan) => plan.reused.map(({ key }) => key);

  test('of an incomplete set are the completed, unchanged ones', () => {
    const did = [
      ['set[0]'],
      ['set[1]', { inputsHash: 'f'.repeat(64) }],
      ['set[2]', { resumable: false }],
    ] as const;
    const plan = planned({ did, later: [begun] });
    expect(keys(plan)).toEqual(['set[0]']);
    expect(plan.steps.find(({ id }) => id === 'set')).toMatchObject({ why: 'not_completed', items: 1 });
  });

  test('exclude those with a side effect in doubt, which run', () => {
    const effects = [{ effectId: 'e', step: 'set[1]', revision: 1, capabilityId: 'c' }];
    expect(keys(planned({ did: [['set[0]'], ['set[1]']], later: [begun], end: { effects } }))).toEqual([
      'set[0]',
    ]);
  });

  test('of a complete set are recorded in order of completion if they have compensations', () => {
    expect(keys(planned({ did: ALL }))).toEqual(['first', 'second', 'third', 'set[0]', 'set']);
  });
});
