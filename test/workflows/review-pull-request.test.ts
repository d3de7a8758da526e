import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toJsonText } from '../../functions/src/core/json.ts';
import { MAX_BODY_CHARS, PullRequestEvent } from '../../functions/src/workflows/review-pull-request/event.ts';
import { suggestLabels } from '../../functions/src/workflows/review-pull-request/labels.ts';
import { whoMustLook } from '../../functions/src/workflows/review-pull-request/reviewers.ts';
import { assessRisk } from '../../functions/src/workflows/review-pull-request/risk.ts';
import { measureSize } from '../../functions/src/workflows/review-pull-request/size.ts';
import { MAX_HEADLINE_CHARS, summarise } from '../../functions/src/workflows/review-pull-request/summary.ts';
import { eventWith, REAL_PAYLOADS } from './pull-request-events.ts';

function reviewOf(event: PullRequestEvent) {
  const size = measureSize(event);
  const risk = assessRisk(event, size);
  const labels = suggestLabels(event, size);
  const review = whoMustLook(event, size);
  return { event, size, risk, labels, review, summary: summarise({ event, size, risk, labels, review }) };
}

describe('real payloads', () => {
  test('there are some of every server', () => {
    expect(REAL_PAYLOADS.length).toBeGreaterThan(30);
  });

  test.each(REAL_PAYLOADS)('$title is reviewed, and every result can be stored', ({ payload }) => {
    const event = PullRequestEvent.parse(payload);
    const { event: _event, ...results } = reviewOf(event);
    expect(JSON.parse(toJsonText(results, 'results'))).toEqual(results);
    expect(results.size).toMatchObject({ bucket: 'XS', changedLines: 2, files: 1 });
    expect(results.labels.add).toContain('size/XS');
    expect(results.review.reviewers.length).toBeGreaterThan(0);
    expect(results.summary.headline).toContain('#2 Update the README with new information.');
  });

  test.each(REAL_PAYLOADS)(
    '$title is stored as a fraction of what arrived, and reads the same again',
    ({ payload }) => {
      const event = PullRequestEvent.parse(payload);
      expect(JSON.stringify(event).length).toBeLessThan(JSON.stringify(payload).length / 5);
      expect(PullRequestEvent.parse(JSON.parse(toJsonText(event, 'input')))).toEqual(event);
    },
  );

  test('the opened README change of its owner is documentation of low risk', () => {
    const opened = REAL_PAYLOADS.find(({ payload }) => payload.action === 'opened');
    const { risk, labels, review, summary } = reviewOf(PullRequestEvent.parse(opened?.payload));
    expect(risk).toEqual({ level: 'low', score: 0, reasons: [] });
    expect(labels).toEqual({ add: ['size/XS', 'documentation'], keep: [], remove: [] });
    expect(review).toEqual({
      reviewers: [{ kind: 'role', who: 'any other contributor', because: 'nobody was asked yet' }],
      approvals: 1,
      when: 'now',
    });
    expect(summary.markdown).toBe(
      [
        '### Pull request #2: `Update the README with new information.`',
        '`Codertocat` wants to merge 1 commit from `changes` into `master` of `Codertocat/Hello-World`.',
        '**Size XS**: 2 changed lines (+1 −1) in 1 file.',
        '**Risk low**: nothing speaks against it.',
        '**Who must look** (1 approval needed):\n\n- any other contributor, because nobody was asked yet',
        '**Labels**:\n\n- add `size/XS`\n- add `documentation`\n',
      ].join('\n\n'),
    );
  });
});

describe('the event', () => {
  test.each(['action', 'number', 'pull_request', 'repository', 'sender'])(
    'without %s is refused',
    (field) => {
      const { [field]: _removed, ...rest } = { ...eventWith() } as Record<string, unknown>;
      const result = PullRequestEvent.safeParse(rest);
      expect(result.error?.issues[0]?.path).toEqual([field]);
    },
  );

  test('of a deleted author and a deleted fork is accepted', () => {
    const head = { ref: 'x', sha: 'c', repo: null };
    const event = PullRequestEvent.parse(eventWith({ user: null, head, body: null, draft: undefined }));
    expect(reviewOf(event).summary.markdown).toContain('a deleted account wants to merge');
  });

  test('keeps the beginning of a long body and never half a character', () => {
    for (const shift of [0, 1]) {
      const body = `${'x'.repeat(shift)}${'🐢'.repeat(MAX_BODY_CHARS)}`;
      const kept = PullRequestEvent.parse(eventWith({ body })).pull_request.body ?? '';
      expect(body.startsWith(kept)).toBe(true);
      expect(kept.isWellFormed()).toBe(true);
      expect(kept.length).toBeGreaterThanOrEqual(MAX_BODY_CHARS - 1);
      expect(kept.length).toBeLessThanOrEqual(MAX_BODY_CHARS);
    }
  });
});

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

  test('never shrinks when a change grows', () => {
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

  test('names the heaviest reason first, and the score is the sum', () => {
    const { reasons, score } = riskOf({ title: 'feat!: tokens', head: fork, body: null, additions: 5_000 });
    expect(reasons.map(({ points }) => points)).toEqual([4, 3, 3, 1, 1]);
    expect(score).toBe(12);
  });
});

describe('labels', () => {
  const labelsOf = (changes: Parameters<typeof eventWith>[0]) => reviewOf(eventWith(changes)).labels;
  const onBranch = (ref: string) => ({ head: { ...eventWith().pull_request.head, ref } });

  test.each<[string, Parameters<typeof eventWith>[0]]>([
    ['enhancement', { title: 'feat: x' }],
    ['enhancement', { title: 'Add a basket' }],
    ['enhancement', onBranch('feature/basket')],
    ['bug', { title: 'fix(tax): x' }],
    ['bug', { title: 'Fixes the basket' }],
    ['bug', onBranch('bugfix-12')],
    ['documentation', { title: 'Correct a typo' }],
    ['dependencies', { title: 'build(deps): bump zod' }],
    ['dependencies', { title: 'Bump zod from 3 to 4' }],
    ['dependencies', onBranch('dependabot/npm/zod-4')],
    ['tests', { title: 'test: x' }],
    ['refactoring', { title: 'perf: x' }],
    ['build', { title: 'ci: x' }],
  ])('%s', (label, changes) => {
    expect(labelsOf(changes).add).toEqual(['size/S', label]);
  });

  test.each(['constructor: x', 'Prices', 'chore: x', 'fix', 'Prefix the price'])(
    '%p alone says no kind',
    (title) => {
      expect(labelsOf({ title }).add).toEqual(['size/S']);
    },
  );

  test('a conventional title counts more than the branch', () => {
    expect(labelsOf({ ...onBranch('feature/x'), title: 'docs: x' }).add).toEqual(['size/S', 'documentation']);
  });

  test('what is there is kept, whatever its case; what is no longer true goes; what people set stays', () => {
    const labels = ['SIZE/s', 'size/XL', 'Work in Progress', 'bug', 'good first issue'].map((name) => ({
      name,
    }));
    expect(labelsOf({ labels, title: 'feat!: x', draft: false, body: null })).toEqual({
      add: ['enhancement', 'breaking change', 'needs description'],
      keep: ['SIZE/s'],
      remove: ['size/XL', 'Work in Progress'],
    });
  });

  test('a draft from a fork says so', () => {
    const head = { ref: 'x', sha: 'c', repo: null };
    expect(labelsOf({ draft: true, head }).add).toEqual([
      'size/S',
      'external contribution',
      'work in progress',
    ]);
  });

  test('following the advice leaves nothing to advise', () => {
    const name = fc.constantFrom('size/XS', 'size/S', 'Size/XL', 'bug', 'needs description', 'other');
    const events = fc.record({
      labels: fc.uniqueArray(
        name.map((each) => ({ name: each })),
        { selector: (label) => label.name },
      ),
      title: fc.constantFrom('fix: x', 'feat!: y', 'Z'),
      body: fc.constantFrom(null, 'text'),
      draft: fc.boolean(),
      additions: fc.nat(2_000),
    });
    fc.assert(
      fc.property(events, (changes) => {
        const first = labelsOf(changes);
        const remaining = changes.labels
          .map((label) => label.name)
          .filter((each) => !first.remove.includes(each));
        const second = labelsOf({
          ...changes,
          labels: [...remaining, ...first.add].map((each) => ({ name: each })),
        });
        expect({ add: second.add, remove: second.remove }).toEqual({ add: [], remove: [] });
      }),
    );
  });
});

describe('who must look', () => {
  const adviceOf = (...changes: Parameters<typeof eventWith>) => reviewOf(eventWith(...changes)).review;
  const who = (...changes: Parameters<typeof eventWith>) =>
    adviceOf(...changes).reviewers.map((each) => each.who);

  test('those who were asked, each once, and never the author', () => {
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

  test('nobody asked: the owner, unless that is the author or an organization', () => {
    expect(who({}, { owner: { login: 'bob', type: 'User' } })).toEqual(['bob']);
    expect(who({}, { owner: { login: 'Ada', type: 'User' } })).toEqual(['any other contributor']);
    expect(who({}, { owner: { login: 'bob', type: 'Organization' } })).toEqual(['any other contributor']);
  });

  test('a draft calls nobody yet', () => {
    expect(adviceOf({ draft: true }).when).toBe('when ready');
    expect(adviceOf({ draft: undefined }).when).toBe('now');
  });
});

describe('the summary', () => {
  test('contains what every step found', () => {
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
      '**Who must look, once it is no draft any more** (2 approvals needed):\n\n- `bob`, because it is assigned to them',
      '- add `enhancement`',
      '- remove `size/XL`',
    ]) {
      expect(summary.markdown).toContain(part);
    }
    expect(summary.headline).toBe('#7 feat!: tokens (size S, risk high, 2 approvals needed)');
  });

  test('says so when the labels are right', () => {
    expect(reviewOf(eventWith({ labels: [{ name: 'size/S' }] })).summary.markdown).toContain(
      '**Labels**: right as they are.',
    );
  });

  test('whatever the title, it stays inside its code span and the headline is one short line of whole characters', () => {
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
