import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { REVIEWED } from '../../../functions/src/workflows/review-pull-request/event.ts';
import { statusOf } from '../../../functions/src/workflows/review-pull-request/posting.ts';
import { ReviewRequest } from '../../../functions/src/workflows/review-pull-request/request.ts';
import type { Verdict } from '../../../functions/src/workflows/review-pull-request/verdict.ts';
import { reviewPullRequestThat } from '../../../functions/src/workflows/review-pull-request/workflow.ts';
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { createTestRuntime, expectJournal } from '../../../packages/cairn/src/testing/index.ts';
import { exampleOf } from '../../../packages/client/src/example/example-of.ts';
import { recordedDeliveries } from '../../../scripts/demo/delivery.ts';
import { PretendedGithub } from './pretended-github.ts';
import { eventWith } from './pull-request-events.ts';

const BREAKPOINT = {
  filename: 'src/b.ts',
  status: 'modified',
  additions: 1,
  deletions: 0,
  patch: '@@ -1 +5 @@\n+debugger',
};

function reviewing(
  more: object = {},
  { isThere = true, changes = {} as Parameters<typeof eventWith>[0] } = {},
) {
  const github = new PretendedGithub();
  const runtime = createTestRuntime({
    workflows: [reviewPullRequestThat(() => isThere)],
    bindings: github.bindings(),
  });
  const start = () => runtime.start('review-pull-request', { ...eventWith(changes), ...more });
  return { github, runtime, start };
}

test('the example input that clients make of the schema is reviewed and posted', async () => {
  const { github, runtime } = reviewing();
  const schema = z.toJSONSchema(ReviewRequest, { io: 'input', unrepresentable: 'any' });
  const run = await runtime.start('review-pull-request', exampleOf(schema));
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect([github.comments.length, github.statuses.length]).toEqual([1, 1]);
});

const POSTS = ['post-comment', 'put-labels', 'set-status'];

describe('a completed review', () => {
  test('is posted as one comment, its labels, and a status that links to the comment', async () => {
    const { github, runtime, start } = reviewing();
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    const { review, comment, status } = (await run.result()) as unknown as {
      review: { markdown: string };
      comment: { url: string };
      status: string;
    };
    expect(github.comments).toEqual([{ repository: 'acme/shop', number: 7, body: review.markdown }]);
    expect(github.statuses).toMatchObject([
      { context: 'cairn/review', state: 'success', description: 'go ahead', targetUrl: comment.url },
    ]);
    const advice = (await run.output('suggest-labels')) as { add: string[] };
    expect([...github.labels]).toEqual(advice.add);
    expect(status).toBe('success');
  });

  test('removes labels of an earlier, different result', async () => {
    const changes = { labels: [{ name: 'size/XL' }, { name: 'keep me' }] };
    const { github, runtime, start } = reviewing({}, { changes });
    github.labels.add('size/XL').add('keep me');
    await runtime.runToEnd(await start());
    expect([...github.labels]).toEqual(expect.arrayContaining(['keep me']));
    expect([...github.labels]).not.toContain('size/XL');
  });

  test.each([
    ['there is nothing to post to', {}, false],
    ['it was asked not to be', { post: false }, true],
  ])('is computed and not posted where %s', async (_why, more, isThere) => {
    const { github, runtime, start } = reviewing(more, { isThere });
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    for (const step of POSTS) expectJournal(run.journal()).toHaveSkipped(step);
    expect([github.comments, github.statuses, github.labels.size]).toEqual([[], [], 0]);
    expect(await run.result()).toMatchObject({ review: { headline: expect.any(String) }, comment: null });
  });

  test('is posted only after a person has approved it', async () => {
    const { github, runtime, start } = reviewing({ files: [BREAKPOINT] });
    const run = await start();
    await runtime.settle();
    expect(github.comments).toEqual([]);
    await runtime.decide(run, 'approve_with_waiver', { note: 'it is a demo', by: 'u.grace' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(github.comments[0]?.body).toContain('with a waiver: `it is a demo`');
    expect(github.statuses[0]?.description).toBe('look closely (waived): src/b.ts:5: contains a breakpoint');
  });

  test('that a person rejects is not posted', async () => {
    const { github, runtime, start } = reviewing({ signOff: 'always' });
    const run = await start();
    await runtime.settle();
    await runtime.decide(run, 'reject');
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(github.comments).toEqual([]);
  });
});

describe('GitHub', () => {
  test.each([
    ['github.create-comment', 'before'],
    ['github.create-comment', 'after'],
    ['github.set-commit-status', 'before'],
    ['github.set-commit-status', 'after'],
    ['github.add-labels', 'before'],
    ['github.add-labels', 'after'],
  ] as const)('whose answer to %s is lost %s it acted has each item once', async (id, when) => {
    const { github, runtime, start } = reviewing();
    github.failures.push({ id, when, error: new Error('the connection broke') });
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect([github.failures, github.comments.length, github.statuses.length]).toEqual([[], 1, 1]);
  });

  test.each(POSTS)('has each item once, although the worker died when %s had acted', async (step) => {
    const { github, runtime, start } = reviewing();
    runtime.crashAfter(step);
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expectJournal(run.journal()).toHave('orphan_detected', 1);
    expect([run.calls(step), github.comments.length, github.statuses.length]).toEqual([2, 1, 1]);
  });

  test('that limits the rate is called again at the time it names, and not before', async () => {
    const { github, runtime, start } = reviewing();
    const retryAt = Date.UTC(2026, 0, 1, 0, 45);
    const error = new NotApplied('limited', { retryAt });
    github.failures.push({ id: 'github.create-comment', when: 'before', error });
    const run = await start();
    await runtime.settle();
    expect(github.comments).toEqual([]);
    await runtime.advance('44m');
    expect(github.comments).toEqual([]);
    await runtime.advance('2m');
    expect(github.comments).toHaveLength(1);
    expect(await runtime.runToEnd(run)).toBe('completed');
  });

  test('that refuses permanently fails the run at once', async () => {
    const { github, runtime, start } = reviewing();
    const error = new NotApplied('GitHub answered 403: locked', { final: true });
    github.failures.push({ id: 'github.create-comment', when: 'before', error });
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.error()).toMatchObject({ stepId: 'post-comment', message: expect.stringContaining('locked') });
    expect(github.statuses).toEqual([]);
  });
});

test('every recorded pull request that is reviewed can be posted', async () => {
  const actions: readonly string[] = REVIEWED.actions;
  const recorded = recordedDeliveries().filter(
    ({ event, action }) => event === REVIEWED.event && actions.includes(action ?? ''),
  );
  expect(recorded.length).toBeGreaterThan(5);
  const { github, runtime } = reviewing();
  for (const { body } of recorded) {
    const run = await runtime.start('review-pull-request', { ...JSON.parse(body), signOff: 'never' });
    expect(await runtime.runToEnd(run)).toBe('completed');
  }
  expect([github.comments.length, github.statuses.length]).toEqual([recorded.length, recorded.length]);
});

test.each<[string, Partial<Verdict>, string | undefined, string, string]>([
  ['nothing to say', { call: 'go ahead', because: [] }, undefined, 'success', 'go ahead'],
  [
    'a problem',
    { call: 'do not merge', because: ['a.ts: a key'] },
    undefined,
    'failure',
    'do not merge: a.ts: a key',
  ],
  ['a problem that is so', { call: 'do not merge' }, 'approve', 'failure', 'do not merge (signed off): x'],
  [
    'a problem that is meant',
    { call: 'do not merge' },
    'approve_with_waiver',
    'success',
    'do not merge (waived): x',
  ],
  ['a worry', { call: 'look closely' }, 'approve', 'success', 'look closely (signed off): x'],
  ['a worry about a draft', { call: 'look closely' }, undefined, 'success', 'look closely: x'],
  [
    'a long reason',
    { call: 'look closely', because: ['x'.repeat(500)] },
    undefined,
    'success',
    `look closely: ${'x'.repeat(126)}`,
  ],
])('the status of %s', (_what, verdict, decision, state, description) => {
  const signOff = decision === undefined ? {} : { signOff: { decision: decision as 'approve' } };
  const status = statusOf(eventWith(), {
    review: { headline: 'h', markdown: 'm', ...signOff },
    verdict: { call: 'go ahead', because: ['x'], filesRead: 0, ...verdict },
    commentUrl: 'https://github.com/acme/shop/pull/7#issuecomment-1',
  });
  expect([status.state, status.description]).toEqual([state, description]);
});
