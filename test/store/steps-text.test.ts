import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Map as PersistentMap } from 'immutable';
import type { StepState } from '../../packages/cairn/src/core/run/state.ts';
import { decodeSteps, encodeSteps } from '../../packages/cairn/src/store/codec/steps-text.ts';
import { steps } from './arbitraries.ts';

describe('the text of the steps', () => {
  test.each<[string, StepState, string]>([
    ['succeeded', { phase: 'done', seq: 7, revision: 1, outcome: 'succeeded' }, 's:7'],
    ['degraded', { phase: 'done', seq: 7, revision: 1, outcome: 'degraded' }, 's:7d'],
    ['skipped', { phase: 'done', seq: 7, revision: 1, outcome: 'skipped' }, 's:7s'],
    ['reused, revised', { phase: 'done', seq: 7, revision: 3, outcome: 'reused' }, 's:7r.3'],
    ['failed', { phase: 'done', seq: 7, revision: 1, outcome: 'failed' }, 's:7f'],
    ['waiting', { phase: 'waiting', seq: 7, revision: 2 }, 's:7w.2'],
    ['running', { phase: 'running', seq: 7, revision: 1, attempt: 2, startedAt: 99 }, 's:7o@2,99'],
    [
      'retrying',
      { phase: 'retrying', seq: 7, revision: 2, attempt: 2, startedAt: 99, retryAt: 100 },
      's:7t.2@2,99,100',
    ],
    [
      'polling',
      { phase: 'retrying', seq: 7, revision: 1, attempt: 4, startedAt: 99, retryAt: 100, polls: 3 },
      's:7t@4,99,100+3',
    ],
    [
      'running after polls',
      { phase: 'running', seq: 7, revision: 1, attempt: 4, startedAt: 99, polls: 3 },
      's:7o@4,99+3',
    ],
  ])('has a fixed form for a step that is %s', (_name, state, text) => {
    expect(encodeSteps(PersistentMap({ s: state }))).toBe(text);
    expect(decodeSteps(text).get('s')).toEqual(state);
  });

  test('decodes to exactly what was encoded, for any keys', () => {
    fc.assert(
      fc.property(steps, (before) => {
        const after = decodeSteps(encodeSteps(before));
        expect(Object.fromEntries(after)).toStrictEqual(Object.fromEntries(before));
      }),
      { numRuns: 500 },
    );
  });

  test('keeps plain keys and brackets readable', () => {
    const state: StepState = { phase: 'done', seq: 1, revision: 1, outcome: 'succeeded' };
    expect(encodeSteps(PersistentMap([['size.v-2_x[item]', state]]))).toBe('size.v-2_x[item]:1');
  });

  test('of 10,000 finished steps takes less than half of a document', () => {
    const state = (seq: number): StepState => ({ phase: 'done', seq, revision: 1, outcome: 'succeeded' });
    const many = PersistentMap(
      Array.from({ length: 10_000 }, (_, i) => [`fan-out[item-${i}]`, state(i + 10_000)]),
    );
    expect(encodeSteps(many).length).toBeLessThan(512 * 1_024);
  });

  test.each([
    'a',
    'a:',
    ':1',
    'a:1x',
    'a:1o',
    'a:1@1,2',
    'a:1o@1,2,3',
    'a:1t@1,2',
    'a:1w@1,2',
    'a:1 ',
    ' ',
    'a:1  b:2',
  ])('is refused where %j is not an entry of a step', (text) => {
    expect(() => decodeSteps(text)).toThrow(/is not the entry of a step/);
  });
});
