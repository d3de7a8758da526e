import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { measureSize } from '../../../functions/src/workflows/review-pull-request/size.ts';
import { eventWith, reviewOf } from './pull-request-events.ts';

describe('size', () => {
  test.each([
    [0, 0, 'XS'],
    [10, 2, 'XS'],
    [11, 1, 'S'],
    [5, 3, 'S'],
    [50, 6, 'S'],
    [51, 1, 'M'],
    [250, 20, 'M'],
    [1, 21, 'L'],
    [251, 1, 'L'],
    [1_000, 60, 'L'],
    [1_001, 1, 'XL'],
    [61, 61, 'XL'],
  ])('%i lines in %i files are %s', (lines, files, bucket) => {
    const size = measureSize(eventWith({ additions: lines, deletions: 0, changed_files: files }));
    expect(size.bucket).toBe(bucket);
    expect(measureSize(eventWith({ additions: 0, deletions: lines, changed_files: files })).bucket).toBe(
      bucket,
    );
  });

  test('never decreases when a change grows', () => {
    const order = ['XS', 'S', 'M', 'L', 'XL'];
    const lines = fc.nat(1_500);
    fc.assert(
      fc.property(lines, fc.nat(80), lines, fc.nat(80), (additions, files, moreLines, moreFiles) => {
        const before = measureSize(eventWith({ additions, deletions: 0, changed_files: files }));
        const after = measureSize(
          eventWith({ additions, deletions: moreLines, changed_files: files + moreFiles }),
        );
        expect(order.indexOf(after.bucket)).toBeGreaterThanOrEqual(order.indexOf(before.bucket));
      }),
    );
  });
});

describe('risk', () => {
  const riskOf = (changes: Parameters<typeof eventWith>[0]) => reviewOf(eventWith(changes)).risk;
  const fork = { ref: 'prices', sha: 'c', repo: { full_name: 'eve/shop' } };

  test.each<[string, Parameters<typeof eventWith>[0], number, string]>([
    ['an ordinary change', {}, 0, ''],
    ['a breaking title', { title: 'feat(api)!: new prices' }, 4, 'marked as a breaking change'],
    ['a breaking body', { body: 'x\n\nBREAKING CHANGE: y' }, 4, 'marked as a breaking change'],
    ['a sensitive title', { title: 'Rotate the OAuth tokens' }, 3, '"oauth"'],
    [
      'a sensitive branch',
      { head: { ...eventWith().pull_request.head, ref: 'add_payment' } },
      3,
      '"payment"',
    ],
    ['a sensitive word in the body only', { body: 'I added no secrets' }, 0, ''],
    ['a word that only begins like one', { title: 'Name the author' }, 0, ''],
    [
      'a release branch',
      { base: { ...eventWith().pull_request.base, ref: 'release/2.1' } },
      2,
      'release branch',
    ],
    ['a maintenance branch', { base: { ...eventWith().pull_request.base, ref: '2.x' } }, 2, 'release branch'],
    ['a large change', { additions: 900 }, 2, 'it is large: 905 lines in 3 files'],
    ['a very large change', { additions: 9_000 }, 3, 'it is very large: 9005 lines in 3 files'],
    ['a newcomer', { author_association: 'FIRST_TIME_CONTRIBUTOR' }, 2, 'first contribution'],
    ['a bot, which is no newcomer', { author_association: 'NONE', user: { login: 'renovate[bot]' } }, 0, ''],
    ['a fork', { head: fork }, 1, 'from a fork'],
    ['a deleted fork', { head: { ...fork, repo: null } }, 1, 'from a fork'],
    ['conflicts', { mergeable_state: 'dirty' }, 1, 'conflicts'],
    ['no description', { body: ' <!-- say what it does --> ' }, 1, 'no description'],
  ])('%s', (_what, changes, score, because) => {
    const risk = riskOf(changes);
    expect(risk.score).toBe(score);
    expect(risk.reasons.map((each) => each.because).join()).toContain(because);
    expect(risk.reasons).toHaveLength(score === 0 ? 0 : 1);
  });

  test.each([
    ['low', { head: fork }],
    ['medium', { head: fork, body: null }],
    ['medium', { title: 'feat!: x' }],
    ['high', { title: 'feat!: x', head: fork }],
  ] as const)('is %s from its score on', (level, changes) => {
    expect(riskOf(changes).level).toBe(level);
  });

  test('names the heaviest reason first, and its score is the sum', () => {
    const { reasons, score } = riskOf({ title: 'feat!: tokens', head: fork, body: null, additions: 5_000 });
    expect(reasons.map(({ points }) => points)).toEqual([4, 3, 3, 1, 1]);
    expect(score).toBe(12);
  });
});
