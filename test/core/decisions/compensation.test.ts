import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compensationsDue, releaseError } from '../../../packages/cairn/src/core/decisions/compensation.ts';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import {
  bySystem,
  failedStep,
  grownBy,
  running,
  sentBack,
  settledStep,
  succeeded,
} from '../run/journal-drafts.ts';
import { journals } from '../run/random-journal.ts';

const all = () => true;
const none = () => false;
const undone = (stepId: string, more: { itemKey?: string } = {}) =>
  bySystem('step_compensated', { stepId, revision: 1, ...more });
const degraded = (stepId: string) => bySystem('step_degraded', { ...settledStep(stepId), reason: 'r' }, '1');
const skipped = (stepId: string) => bySystem('step_skipped', { ...settledStep(stepId), reason: 'r' }, 'null');
const error = { code: 'X', message: 'x', retryable: false };

const due = (drafts: readonly EventDraft[], isCompensable: (key: string) => boolean = all) =>
  compensationsDue(grownBy(running(), drafts), isCompensable).map(({ step, revision }) =>
    revision === 1 ? step : `${step} rev ${revision}`,
  );

describe('the compensations that are due', () => {
  test.each<[string, EventDraft[], string[]]>([
    ['nothing of a run that did nothing', [], []],
    ['what completed, the newest first', [succeeded('a'), succeeded('c'), succeeded('b')], ['b', 'c', 'a']],
    ['what degraded did something too', [degraded('a')], ['a']],
    ['not what failed or was skipped', [failedStep('a'), skipped('b')], []],
    ['not what is under way', [bySystem('step_started', settledStep('a'))], []],
    ['not what has been undone', [succeeded('a'), succeeded('b'), undone('b')], ['a']],
    [
      'not what could not be undone, for good',
      [succeeded('a'), bySystem('compensation_failed', { stepId: 'a', revision: 1, error })],
      [],
    ],
    [
      'items by their own keys',
      [succeeded('m', { itemKey: '0' }), succeeded('m', { itemKey: '1' }), undone('m', { itemKey: '1' })],
      ['m[0]'],
    ],
    [
      'what a person sent back, if whoever did said that it can be undone',
      [succeeded('a'), succeeded('b'), sentBack('g.1', ['b'], { undoable: ['b'] })],
      ['b', 'a'],
    ],
    ['not otherwise', [succeeded('a'), succeeded('b'), sentBack('g.1', ['b'])], ['a']],
    [
      'each revision for itself',
      [succeeded('b'), sentBack('g.1', ['b'], { undoable: ['b'] }), succeeded('b', { revision: 2 })],
      ['b rev 2', 'b'],
    ],
    [
      'an earlier revision after the newest has been undone',
      [
        succeeded('b'),
        sentBack('g.1', ['b'], { undoable: ['b'] }),
        succeeded('b', { revision: 2 }),
        bySystem('step_compensated', { stepId: 'b', revision: 2 }),
      ],
      ['b'],
    ],
  ])('%s', (_, drafts, expected) => {
    expect(due(drafts)).toEqual(expected);
  });

  test('include only steps that the definition can undo', () => {
    expect(due([succeeded('a'), succeeded('b')], (key) => key === 'a')).toEqual(['a']);
    expect(due([succeeded('a')], none)).toEqual([]);
  });

  test('are finite for any run', () => {
    fc.assert(
      fc.property(journals(), ({ states }) => {
        for (const state of states) {
          const first = compensationsDue(state, all);
          expect(new Set(first.map(({ step, revision }) => `${step} ${revision}`)).size).toBe(first.length);
          let left = state;
          for (const [index, { step: stepId, revision }] of first.entries()) {
            const compensationLog = [
              ...left.compensationLog,
              { stepId, revision, outcome: 'compensated', at: 0 } as const,
            ];
            left = { ...left, compensationLog };
            expect(compensationsDue(left, all)).toEqual(first.slice(index + 1));
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('the error of a release', () => {
  const undo = { step: 'm[1]', revision: 2, attempts: 3 };
  const before = { failures: { times: 4, error: { ...error, undo } }, compensationLog: [] };
  const ended = (stepId: string, revision: number) =>
    ({ stepId, revision, outcome: 'compensated', at: 0 }) as const;
  const other = { ...error, code: 'Y' };
  const more = { ...error, undo: { ...undo, attempts: 4 } };

  test.each<[string, Partial<Parameters<typeof releaseError>[0]>, object | undefined, object | undefined]>([
    ['keeps the count if nothing was repeated', {}, undefined, before.failures.error],
    ['keeps the count with the error of a dispatch', {}, other, { ...other, undo }],
    ['has a higher count', {}, more, more],
    [
      'keeps the count while others end',
      { compensationLog: [ended('m[1]', 1), ended('a', 2)] },
      other,
      { ...other, undo },
    ],
    ['has no count of a compensation that has ended', { compensationLog: [ended('m[1]', 2)] }, other, other],
    ['is absent after it', { compensationLog: [ended('m[1]', 2)] }, undefined, undefined],
    ['repeats no failure of a dispatch', { failures: { times: 1, error } }, undefined, undefined],
  ])('%s', (_, state, given, expected) => {
    expect(releaseError({ ...before, ...state }, given as typeof error)).toEqual(expected);
  });
});
