import { describe, expect, test } from '@jest/globals';
import { RUN_STATUSES, type RunStatus } from '../../../functions/src/core/run/status.ts';
import {
  canonicalStatus,
  canonicalWord,
  projectStatus,
  VOCABULARIES,
  type Vocabulary,
} from '../../../functions/src/core/run/vocabulary.ts';

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

  test.each(VOCABULARIES.map((name) => [name]))('%s is answered in words of its own', (name) => {
    for (const status of RUN_STATUSES) expect(WORDS[name]).toContain(projectStatus({ status }, name));
  });

  test.each(VOCABULARIES.map((name) => [name]))('%s keeps an ended run ended and a live one live', (name) => {
    const ended = (status: RunStatus) => ['completed', 'failed', 'cancelled'].includes(status);
    for (const status of RUN_STATUSES) {
      expect(ended(canonicalStatus(projectStatus({ status }, name)))).toBe(ended(status));
    }
  });

  test('a status that a vocabulary can express survives the way out and back', () => {
    for (const name of VOCABULARIES) {
      const expressible = new Set(WORDS[name].map(canonicalStatus));
      for (const status of expressible) expect(canonicalStatus(projectStatus({ status }, name))).toBe(status);
    }
  });

  test('halted is said only of a halted run, and only where the word exists', () => {
    expect(projectStatus({ status: 'cancelled', stopKind: 'halt' }, 'orcho')).toBe('halted');
    expect(projectStatus({ status: 'cancelled', stopKind: null }, 'orcho')).toBe('cancelled');
    expect(projectStatus({ status: 'failed', stopKind: 'halt' }, 'orcho')).toBe('failed');
    expect(projectStatus({ status: 'cancelled', stopKind: 'halt' }, 'orca')).toBe('canceled');
    expect(projectStatus({ status: 'cancelled', stopKind: 'halt' }, 'cairn')).toBe('cancelled');
  });

  test.each(['Running', 'finished', '', 'constructor', '__proto__'])('%p is refused', (word) => {
    expect(() => canonicalStatus(word)).toThrow('is not a run status');
  });
});
