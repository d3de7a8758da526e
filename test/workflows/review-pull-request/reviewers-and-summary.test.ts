import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_HEADLINE_CHARS } from '../../../functions/src/workflows/review-pull-request/summary.ts';
import { eventWith, reviewOf } from './pull-request-events.ts';

describe('the reviewers', () => {
  const adviceOf = (...changes: Parameters<typeof eventWith>) => reviewOf(eventWith(...changes)).review;
  const who = (...changes: Parameters<typeof eventWith>) =>
    adviceOf(...changes).reviewers.map((each) => each.who);

  test('are the requested ones, each once, and never the author', () => {
    const reviewers = who({
      requested_reviewers: [{ login: 'bob' }, null, { login: 'ADA' }],
      requested_teams: [{ name: 'bob' }],
      assignees: [{ login: 'Bob' }, { login: 'ada' }, { login: 'cyd' }],
    });
    expect(reviewers).toEqual(['bob', 'bob', 'cyd']);
    expect(
      adviceOf({ requested_reviewers: [{ login: 'bob' }], requested_teams: [{ name: 'bob' }] }).reviewers,
    ).toEqual([
      { kind: 'person', who: 'bob', because: 'their review was requested' },
      { kind: 'team', who: 'bob', because: 'its review was requested' },
    ]);
  });

  test.each<[string, Parameters<typeof eventWith>[0], string[], number]>([
    ['an ordinary change', {}, ['any other contributor'], 1],
    ['a sensitive one', { title: 'Store passwords' }, ['somebody responsible for security'], 2],
    ['a breaking one', { title: 'fix!: x' }, ['a maintainer'], 2],
    [
      'one to a release branch',
      { base: { ...eventWith().pull_request.base, ref: 'stable' } },
      ['a maintainer'],
      1,
    ],
    ['one of a newcomer', { author_association: 'FIRST_TIMER' }, ['a maintainer'], 1],
    ['a huge one', { additions: 5_000 }, ['a second reader'], 2],
    ['a breaking one of a newcomer', { title: 'fix!: x', author_association: 'NONE' }, ['a maintainer'], 2],
  ])('%s', (_what, changes, expected, approvals) => {
    expect(who(changes)).toEqual(expected);
    expect(adviceOf(changes).approvals).toBe(approvals);
  });

  test('without a request are the owner, unless that is the author or an organization', () => {
    expect(who({}, { owner: { login: 'bob', type: 'User' } })).toEqual(['bob']);
    expect(who({}, { owner: { login: 'Ada', type: 'User' } })).toEqual(['any other contributor']);
    expect(who({}, { owner: { login: 'bob', type: 'Organization' } })).toEqual(['any other contributor']);
  });

  test('of a draft are none', () => {
    expect(adviceOf({ draft: true }).when).toBe('when ready');
    expect(adviceOf({ draft: undefined }).when).toBe('now');
  });
});

describe('the summary', () => {
  test('contains the result of every step', () => {
    const { summary } = reviewOf(
      eventWith({
        title: 'feat!: tokens',
        draft: true,
        labels: [{ name: 'size/XL' }],
        assignees: [{ login: 'bob' }],
      }),
    );
    for (const part of [
      '`ada` wants to merge 2 commits from `prices` into `main` of `acme/shop`.',
      '**Size S**: 25 changed lines (+20 −5) in 3 files.',
      '**Risk high**:\n\n- it is marked as a breaking change\n- it is about "tokens"',
      '**Reviewers, once the draft is ready** (2 approvals needed):\n\n- `bob`, because it is assigned to them',
      '- add `enhancement`',
      '- remove `size/XL`',
    ]) {
      expect(summary.markdown).toContain(part);
    }
    expect(summary.headline).toBe('#7 feat!: tokens (size S, risk high, 2 approvals needed)');
  });

  test('states that the labels are right', () => {
    expect(reviewOf(eventWith({ labels: [{ name: 'size/S' }] })).summary.markdown).toContain(
      '**Labels**: no changes.',
    );
  });

  test('keeps any title inside its code span, and has a short headline of whole characters', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('`', '\n', '@acme', '<b>', '🐢', ' ', '](x)', 'a'),
      maxLength: 200,
    });
    fc.assert(
      fc.property(hostile, (title) => {
        const { summary } = reviewOf(eventWith({ title }));
        const [heading = ''] = summary.markdown.split('\n');
        expect(heading).toMatch(/^### Pull request #7: `[^`]*`$/);
        expect(summary.headline.length).toBeLessThanOrEqual(MAX_HEADLINE_CHARS);
        expect(summary.headline).not.toContain('\n');
        expect(summary.headline.isWellFormed()).toBe(true);
      }),
    );
  });
});
