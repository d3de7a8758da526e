import { describe, expect, test } from '@jest/globals';
import {
  type CheckpointView,
  comparableTo,
  comparedOf,
  comparedWord,
  comparisonOf,
  tokenWords,
} from '../../../packages/console/src/pages/run/checkpoints/words.ts';
import {
  countWords,
  type Effect,
  effectWords,
  isResolvedByPerson,
} from '../../../packages/console/src/pages/run/effects/words.ts';
import { integritySummary } from '../../../packages/console/src/pages/run/integrity/words.ts';
import {
  countsOf,
  type Preview,
  previewStepWords,
} from '../../../packages/console/src/pages/run/successors/words.ts';

describe('a side effect is shown as', () => {
  const row = (part: object) => ({ effectId: 'e.1', ...part }) as unknown as Effect;
  const live = { isOver: false, asked: new Set<string>() };
  const asked = { isOver: false, asked: new Set(['e.1']) };
  const over = { isOver: true, asked: new Set<string>() };

  test.each([
    ['executed', { status: 'recorded' }, live, 'good'],
    ['reused', { status: 'reused' }, live, 'good'],
    ['failed', { status: 'failed' }, live, 'bad'],
    ['under way', { status: 'attempted' }, live, 'live'],
    ['in doubt', { status: 'attempted' }, over, 'bad'],
    ['in doubt', { status: 'attempted' }, asked, 'bad'],
    ['in doubt', { status: 'blocked', blockedBy: 'doubt' }, asked, 'bad'],
    [
      'called again',
      { status: 'blocked', blockedBy: 'doubt', resolution: { outcome: 're-execute', by: 'c.ann' } },
      over,
      'wait',
    ],
    ['blocked: asks first', { status: 'blocked', blockedBy: 'policy' }, asked, 'wait'],
    ['blocked: asks first', { status: 'blocked', blockedBy: 'confirmation' }, asked, 'wait'],
    ['blocked: another request', { status: 'blocked', blockedBy: 'mismatch' }, live, 'bad'],
  ])('%s', (words, part, facts, tone) => {
    expect(effectWords(row(part), facts)).toMatchObject({ words, tone });
  });

  test('left in doubt by an ended run, with advice', () => {
    expect(effectWords(row({ status: 'attempted' }), over).meaning).toContain('then resolve it');
  });

  test('to be resolved by a person if nothing else will resolve it, and no question asks about it', () => {
    const isByPerson = (part: object, facts = over) => isResolvedByPerson(row(part), facts);
    expect([
      isByPerson({ status: 'attempted' }),
      isByPerson({ status: 'blocked', blockedBy: 'doubt' }),
    ]).toEqual([true, true]);
    expect([isByPerson({ status: 'attempted' }, asked), isByPerson({ status: 'attempted' }, live)]).toEqual([
      true,
      false,
    ]);
    for (const part of [{ status: 'recorded' }, { status: 'blocked', blockedBy: 'policy' }])
      expect(isByPerson(part)).toBe(false);
  });

  test('counts by state', () => {
    const rows = ['recorded', 'reused', 'recorded'].map((status) => row({ status }));
    expect(countWords(rows, live)).toEqual([
      ['executed', 2],
      ['reused', 1],
    ]);
  });
});

describe('checkpoints', () => {
  const point = (seq: number, part: object = {}) =>
    ({ seq, boundary: 'step_completed', stepId: 'draft', output: {}, ...part }) as unknown as CheckpointView;
  const all = [point(3), point(5, { stepId: 'other' }), point(7), point(9, { itemKey: 'a' }), point(11)];

  test('can be compared with others of their step with an output', () => {
    const bare = { ...point(8), output: undefined } as unknown as CheckpointView;
    expect(comparableTo(point(7), [...all, bare]).map(({ seq }) => seq)).toEqual([11, 3]);
    expect(comparisonOf(point(7), point(3))).toEqual({ before: 3, after: 7 });
  });

  test.each([
    ['3..7', { before: 3, after: 7 }],
    ['source..7', { before: 'source', after: 7 }],
  ] as const)('%s in the address is a comparison', (word, compared) => {
    expect(comparedOf(word)).toEqual(compared);
    expect(comparedWord(compared)).toBe(word);
  });

  test.each([undefined, '3', '3..', 'x..7', '0..7', '3..source'])(
    '%j in the address is no comparison',
    (word) => {
      expect(comparedOf(word)).toBeUndefined();
    },
  );

  test('say what they cost', () => {
    expect(tokenWords(point(1, { tokensUsed: { input: 1234, output: 5 } }))).toBe('1,234 in · 5 out');
    expect(tokenWords(point(1))).toBeUndefined();
  });
});

describe('a check', () => {
  const found = (part: object) =>
    integritySummary({ runId: 'r', problems: [], unread: [], checkedAt: '', ...part } as never).words;

  test.each([
    [{ verdict: 'consistent', head: 34 }, 'Checked: whole, 34 events.'],
    [{ verdict: 'healable', problems: [{}] }, '1 problem. A repair fixes all of it.'],
    [{ verdict: 'needs_person', problems: [{}], more: 2 }, '3 problems. Some of it needs a person.'],
    [{ verdict: 'broken', problems: [{}] }, 'nothing can be repaired'],
  ])('of %j is summarised', (part, words) => expect(found(part)).toContain(words));
});

describe('a preview', () => {
  const step = (part: object) =>
    ({ id: 's', kind: 'step', revision: 1, ...part }) as unknown as Preview['steps'][number];

  test('shows what would happen to each step and why', () => {
    expect(previewStepWords(step({ action: 'reused', from: { runId: 'r', checkpoint: 4 } }))).toMatchObject({
      words: 'reused',
      because: 'as recorded at checkpoint 4',
    });
    expect(previewStepWords(step({ action: 'runs', why: 'failed', revision: 2, items: 3 }))).toMatchObject({
      words: 'runs, as revision 2',
      because: 'it had failed, 3 of its items are reused',
    });
  });

  test('counts its actions', () => {
    const steps = [step({ action: 'reused' }), step({ action: 'runs' })];
    const effects = [{ action: 're-executed' }, { action: 'reused' }];
    expect(countsOf({ steps, effects } as unknown as Preview)).toBe(
      '1 reused · 1 to run · 1 effect repeated',
    );
  });
});
