import { describe, expect, test } from '@jest/globals';
import { STOP_KINDS, type StopKind } from '../../../packages/cairn/src/core/run/events.ts';
import { RUN_STATUSES, type RunStatus } from '../../../packages/cairn/src/core/run/status.ts';
import {
  canonicalWord,
  PROJECTED_WORDS,
  projectStatus,
  type RunsCalled,
  runsCalled,
  VOCABULARIES,
  type Vocabulary,
} from '../../../packages/cairn/src/core/run/vocabulary.ts';

const canonicalStatus = (word: string) => canonicalWord(word).status;

/** Statuses as the texts define them. */
const WORDS: Record<Vocabulary, readonly string[]> = {
  cairn: RUN_STATUSES,
  orca: [
    'pending',
    'running',
    'waiting_for_human',
    'waiting_for_signal',
    'replaying',
    'completed',
    'failed',
    'canceled',
  ],
  orcho: [
    'running',
    'awaiting_phase_handoff',
    'awaiting_gate_decision',
    'awaiting_human_review',
    'done',
    'halted',
    'cancelled',
    'failed',
    'interrupted',
  ],
  gwi: ['pending', 'running', 'awaiting_approval', 'waiting_external', 'completed', 'failed', 'cancelled'],
};

describe('vocabulary', () => {
  test.each<[string, RunStatus, string | undefined]>([
    ['waiting_for_human', 'awaiting_approval', undefined],
    ['waiting_for_signal', 'waiting_external', undefined],
    ['canceled', 'cancelled', undefined],
    ['done', 'completed', undefined],
    ['halted', 'cancelled', 'halt'],
    ['awaiting_phase_handoff', 'awaiting_approval', undefined],
    ['awaiting_gate_decision', 'awaiting_approval', undefined],
    ['awaiting_human_review', 'awaiting_approval', undefined],
  ])('%s means %s', (word, status, stopKind) => {
    expect(canonicalStatus(word)).toBe(status);
    expect(canonicalWord(word).stopKind).toBe(stopKind);
  });

  test.each(VOCABULARIES.map((name) => [name]))('every word of %s has a meaning', (name) => {
    for (const word of WORDS[name]) expect(RUN_STATUSES).toContain(canonicalStatus(word));
  });

  test.each(VOCABULARIES.map((name) => [name]))('%s is answered in its own words', (name) => {
    for (const status of RUN_STATUSES) expect(WORDS[name]).toContain(projectStatus({ status }, name));
  });

  test.each(VOCABULARIES.map((name) => [name]))(
    '%s shows an ended run as ended and a live one as live',
    (name) => {
      const ended = (status: RunStatus) => ['completed', 'failed', 'cancelled'].includes(status);
      for (const status of RUN_STATUSES) {
        expect(ended(canonicalStatus(projectStatus({ status }, name)))).toBe(ended(status));
      }
    },
  );

  test('a status that a vocabulary can express survives a round trip', () => {
    for (const name of VOCABULARIES) {
      const expressible = new Set(WORDS[name].map(canonicalStatus));
      for (const status of expressible) expect(canonicalStatus(projectStatus({ status }, name))).toBe(status);
    }
  });

  test('halted is shown only for a halted run, and only in vocabularies with that word', () => {
    expect(projectStatus({ status: 'cancelled', stopKind: 'halt' }, 'orcho')).toBe('halted');
    expect(projectStatus({ status: 'cancelled', stopKind: null }, 'orcho')).toBe('cancelled');
    expect(projectStatus({ status: 'failed', stopKind: 'halt' }, 'orcho')).toBe('failed');
    expect(projectStatus({ status: 'cancelled', stopKind: 'halt' }, 'orca')).toBe('canceled');
    expect(projectStatus({ status: 'cancelled', stopKind: 'halt' }, 'cairn')).toBe('cancelled');
  });

  describe('the runs that a word selects', () => {
    const everyRun = RUN_STATUSES.flatMap((status) =>
      STOP_KINDS.map((stopKind) => (status === 'cancelled' ? { status, stopKind } : { status })),
    );

    test.each(VOCABULARIES.map((name) => [name]))('in %s are exactly those shown with it', (name) => {
      for (const word of new Set(everyRun.map((run) => projectStatus(run, name)))) {
        const { statuses, stopKinds } = runsCalled(word, name);
        for (const run of everyRun) {
          const isMeant =
            statuses.includes(run.status) &&
            (!stopKinds || ('stopKind' in run && stopKinds.includes(run.stopKind as StopKind)));
          expect([word, run, isMeant]).toEqual([word, run, projectStatus(run, name) === word]);
        }
      }
    });

    test.each<[Vocabulary, string, RunsCalled]>([
      ['cairn', 'running', { statuses: ['running'] }],
      ['cairn', 'cancelled', { statuses: ['cancelled'] }],
      ['gwi', 'running', { statuses: ['running', 'replaying', 'interrupted'] }],
      ['orcho', 'cancelled', { statuses: ['cancelled'], stopKinds: ['user', 'system', 'policy'] }],
      ['orcho', 'halted', { statuses: ['cancelled'], stopKinds: ['halt'] }],
    ])('in %s called %s are these', (name, word, runs) => {
      expect(runsCalled(word, name)).toEqual(runs);
    });

    test.each<[Vocabulary, string, RunsCalled]>([
      ['cairn', 'done', { statuses: ['completed'] }],
      ['cairn', 'halted', { statuses: ['cancelled'], stopKinds: ['halt'] }],
      ['gwi', 'interrupted', { statuses: ['interrupted'] }],
      ['orcho', 'awaiting_gate_decision', { statuses: ['awaiting_approval'] }],
      ['orca', 'awaiting_approval', { statuses: ['awaiting_approval'] }],
    ])('in %s, which does not show %s, are those it means in other vocabularies', (name, word, runs) => {
      expect(runsCalled(word, name)).toEqual(runs);
    });

    test.each(VOCABULARIES.map((name) => [name]))(
      'in %s, for a word of no vocabulary, are refused',
      (name) => {
        for (const word of ['finished', '', '__proto__', 'toString'])
          expect(() => runsCalled(word, name)).toThrow('is not a run status');
      },
    );
  });

  test('the list of all words for runs is complete and without duplicates', () => {
    const words = VOCABULARIES.flatMap((name) =>
      RUN_STATUSES.map((status) => projectStatus({ status }, name)),
    );
    expect([...PROJECTED_WORDS].sort()).toEqual([...new Set([...words, 'halted'])].sort());
  });

  test.each(['Running', 'finished', '', 'constructor', '__proto__'])('%p is refused', (word) => {
    expect(() => canonicalStatus(word)).toThrow('is not a run status');
  });
});
