import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventWith, reviewOf } from './pull-request-events.ts';

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

  test.each(['constructor: x', 'Prices', 'chore: x', 'Fixture data', 'Prefix the price'])(
    '%p alone gives no kind',
    (title) => {
      expect(labelsOf({ title }).add).toEqual(['size/S']);
    },
  );

  test('a conventional title takes precedence over the branch', () => {
    expect(labelsOf({ ...onBranch('feature/x'), title: 'docs: x' }).add).toEqual(['size/S', 'documentation']);
  });

  test('present labels are kept in any case, outdated ones removed, and those of people kept', () => {
    const labels = ['SIZE/s', 'size/XL', 'Work in Progress', 'bug', 'good first issue'].map((name) => ({
      name,
    }));
    expect(labelsOf({ labels, title: 'feat!: x', draft: false, body: null })).toEqual({
      add: ['enhancement', 'breaking change', 'needs description'],
      keep: ['SIZE/s'],
      remove: ['size/XL', 'Work in Progress'],
    });
  });

  test('a draft from a fork is labelled as both', () => {
    const head = { ref: 'x', sha: 'c', repo: null };
    expect(labelsOf({ draft: true, head }).add).toEqual([
      'size/S',
      'external contribution',
      'work in progress',
    ]);
  });

  test('applying the advice leaves no further advice', () => {
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
