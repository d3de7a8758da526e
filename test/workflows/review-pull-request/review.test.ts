import { describe, expect, test } from '@jest/globals';
import { reviewPullRequest1 } from '../../../functions/src/workflows/review-pull-request/earlier/version-1.ts';
import { reviewPullRequest2 } from '../../../functions/src/workflows/review-pull-request/earlier/version-2.ts';
import { reviewPullRequestThat } from '../../../functions/src/workflows/review-pull-request/workflow.ts';
import { createTestRuntime, expectJournal } from '../../../packages/cairn/src/testing/index.ts';
import { PretendedGithub } from './pretended-github.ts';
import { eventWith } from './pull-request-events.ts';

const FILES = [
  { filename: 'src/a.ts', status: 'modified', additions: 1, deletions: 0, patch: '@@ -1 +1,2 @@\n a\n+b' },
  { filename: 'src/b.ts', status: 'modified', additions: 1, deletions: 0, patch: '@@ -1 +5 @@\n+debugger' },
  { filename: 'logo.png', status: 'added', additions: 0, deletions: 0 },
];

interface Review {
  readonly headline: string;
  readonly markdown: string;
  readonly signOff?: unknown;
}

function reviewing(more: object = {}, changes: Parameters<typeof eventWith>[0] = {}) {
  const runtime = createTestRuntime({
    workflows: [reviewPullRequest1, reviewPullRequest2, reviewPullRequestThat(() => false)],
    bindings: new PretendedGithub().bindings(),
  });
  return {
    runtime,
    start: () => runtime.start('review-pull-request', { ...eventWith(changes), ...more }),
  };
}

/** A review with a breakpoint in one of its files, at the moment it asks. */
async function asking() {
  const { runtime, start } = reviewing({ files: FILES });
  const run = await start();
  await runtime.settle();
  return { runtime, run };
}

describe('a review from a webhook alone', () => {
  test('completes without a person on the newest plan, and contains what earlier plans contained', async () => {
    const { runtime, start } = reviewing();
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(run.state().planVersion).toBe(3);
    expectJournal(run.journal()).toHaveSkipped('sign-off').toHaveRun('conclude', 1);
    const { review } = (await run.result()) as unknown as { review: Review };

    const before = createTestRuntime({ workflows: [reviewPullRequest1] });
    const old = await before.start('review-pull-request', eventWith());
    await before.runToEnd(old);
    const first = ((await old.result()) as unknown as { review: Review }).review;
    expect(review.headline).toBe(first.headline);
    expect(review.markdown).toBe(`${first.markdown.trimEnd()}\n\n**Verdict**: go ahead.\n`);

    const unposted = createTestRuntime({ workflows: [reviewPullRequest2] });
    const second = await unposted.start('review-pull-request', eventWith());
    await unposted.runToEnd(second);
    expect(await second.result()).toEqual({ review });
  });

  test('of a risky change waits for a person', async () => {
    const { runtime, start } = reviewing({}, { title: 'feat!: new login', author_association: 'NONE' });
    const run = await start();
    await runtime.settle();
    expect(run.waits()).toMatchObject([{ step: 'sign-off', details: { verdict: { call: 'look closely' } } }]);
  });

  test.each([
    ['of a risky change that is a draft', {}, { title: 'feat!: new login', draft: true }],
    ['of a risky change that nobody wants signed', { signOff: 'never' }, { title: 'feat!: new login' }],
  ])('%s waits for no person', async (_name, more, changes) => {
    const { runtime, start } = reviewing(more, { author_association: 'NONE', ...changes });
    expect(await runtime.runToEnd(await start())).toBe('completed');
  });

  test('waits for a person where that is configured', async () => {
    const { runtime, start } = reviewing({ signOff: 'always' });
    await expect(runtime.runToEnd(await start())).rejects.toThrow("a decision on 'sign-off'");
  });
});

describe('a review with files', () => {
  test('reads each of them, and asks about its findings', async () => {
    const { run } = await asking();
    expect(await run.output('review-file')).toEqual([
      { filename: 'src/a.ts', findings: [] },
      {
        filename: 'src/b.ts',
        findings: [{ severity: 'warning', what: 'contains a breakpoint', line: 5 }],
      },
      { filename: 'logo.png', findings: [expect.objectContaining({ severity: 'note' })] },
    ]);
    expect(run.waits()).toMatchObject([
      {
        step: 'sign-off',
        question: expect.stringMatching(/^Sign off the review: look closely\? #7 Show prices/),
        details: {
          url: 'https://github.com/acme/shop/pull/7',
          verdict: {
            call: 'look closely',
            because: ['src/b.ts:5: contains a breakpoint'],
            filesRead: 3,
          },
        },
      },
    ]);
  });

  test.each([
    ['approve', undefined, '**Signed off** by `u.grace`\n'],
    ['approve_with_waiver', 'it is a demo', '**Signed off** by `u.grace`, with a waiver: `it is a demo`\n'],
  ] as const)('that a person answers with %s has that result', async (decision, note, line) => {
    const { runtime, run } = await asking();
    await runtime.decide(run, decision, { by: 'u.grace', ...(note === undefined ? {} : { note }) });
    expect(await runtime.runToEnd(run)).toBe('completed');
    const { review } = (await run.result()) as unknown as { review: Review };
    expect(review.markdown).toContain('- warning: contains a breakpoint, in `src/b.ts:5`');
    expect(review.markdown.endsWith(line)).toBe(true);
    expect(review.signOff).toMatchObject({ decision, by: 'u.grace' });
  });

  test('that a person rejects fails', async () => {
    const { runtime, run } = await asking();
    await runtime.decide(run, 'reject', { note: 'take the breakpoint out' });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expectJournal(run.journal()).toEndAs('failed', 'APPROVAL_REJECTED').notToHaveRun('conclude');
  });

  test('that nobody answers fails after a day', async () => {
    const { runtime, run } = await asking();
    await runtime.advance('23h');
    expect(run.status()).toBe('awaiting_approval');
    await runtime.advance('1h');
    expectJournal(run.journal()).toEndAs('failed', 'APPROVAL_EXPIRED');
  });

  test('that a person sends back is made again with the remark, and asks again', async () => {
    const { runtime, run } = await asking();
    await runtime.decide(run, 'retry_with_feedback', { feedback: 'the breakpoint is meant' });
    await runtime.settle();
    expect(run.waits()).toMatchObject([{ details: { verdict: { remark: 'the breakpoint is meant' } } }]);
    expect(run.calls('review-file')).toBe(3);
    await runtime.decide(run, 'approve');
    await runtime.runToEnd(run);
    const { review } = (await run.result()) as unknown as { review: Review };
    expect(review.markdown).toContain('**Sent back with**: `the breakpoint is meant`');
  });

  test('whose worker dies among the files reads each remaining one once', async () => {
    const { runtime, start } = reviewing({ files: FILES, signOff: 'never' });
    runtime.crashAfter('review-file[1]');
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(run.calls('review-file[1]')).toBe(2);
    expectJournal(run.journal()).toHave('orphan_detected', 1).toHaveRun('review-file[1]', 1);
  });

  test('of a thousand files completes in one drive', async () => {
    const files = Array.from({ length: 1_000 }, (_, i) => ({ ...FILES[0], filename: `src/${i}.ts` }));
    const { runtime, start } = reviewing({ files, signOff: 'never' });
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(run.calls('review-file')).toBe(1_000);
    expect(await run.output('verdict')).toMatchObject({ filesRead: 1_000, call: 'go ahead' });
  });
});
