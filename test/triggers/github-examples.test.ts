import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { reviewPullRequest2 } from '../../functions/src/workflows/review-pull-request/earlier/version-2.ts';
import { Installation } from '../api/installation.ts';

interface Example {
  readonly name: string;
  readonly examples: readonly { readonly action?: string }[];
}

const EXAMPLES = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly Example[];
const PAYLOADS = EXAMPLES.flatMap(({ name, examples }) =>
  examples.map((payload, index) => ({
    event: name,
    index,
    action: payload.action,
    body: JSON.stringify(payload),
  })),
);
const REVIEWED = new Set(['opened', 'reopened', 'synchronize', 'ready_for_review', 'edited']);

test('the examples cover every event and hold pull requests to review', () => {
  expect(PAYLOADS.length).toBeGreaterThan(300);
  expect(
    PAYLOADS.filter(({ event, action }) => event === 'pull_request' && REVIEWED.has(action ?? '')).length,
  ).toBeGreaterThan(3);
});

test.each(PAYLOADS)(
  '$event $action #$index starts at most one run, and none when it is repeated',
  async (payload) => {
    const { event, action, body } = payload;
    const installation = new Installation([reviewPullRequest2]);
    const id = `00000000-0000-0000-0000-${String(payload.index).padStart(12, '0')}`;
    const first = await installation.deliver({ event, id, body });
    const again = await installation.deliver({ event, id, body });
    const answers = [await first.json(), await again.json()] as Record<string, unknown>[];

    if (event === 'pull_request' && REVIEWED.has(action ?? '')) {
      expect([first.status, again.status]).toEqual([202, 200]);
      expect(answers).toEqual([{ runId: expect.any(String) }, { duplicate: true, runId: answers[0]?.runId }]);
      expect(installation.world.db.runs.size).toBe(1);
    } else if (event === 'ping') {
      expect([first.status, again.status]).toEqual([200, 200]);
      expect(answers).toEqual([{ pong: true }, { pong: true }]);
      expect(installation.written()).toBe(0);
    } else {
      expect([first.status, again.status]).toEqual([202, 202]);
      expect(answers).toEqual([{ ignored: true }, { ignored: true }]);
      expect(installation.written()).toBe(0);
    }
  },
);

test('a run made from a delivery ends with a review of that pull request', async () => {
  const installation = new Installation([reviewPullRequest2]);
  const opened = PAYLOADS.find(({ event, action }) => event === 'pull_request' && action === 'opened');
  const { runId } = (await (await installation.deliver(opened ?? {})).json()) as { runId: string };
  await installation.world.run();

  const key = await installation.key('reader', { roles: ['viewer'] });
  const run = (await (await installation.get(`/v1/runs/${runId}`, key)).json()) as Record<string, unknown>;
  expect(run).toMatchObject({
    status: 'completed',
    environment: 'test',
    repoId: 'Codertocat/Hello-World',
    prId: '2',
    prUrl: 'https://github.com/Codertocat/Hello-World/pull/2',
    threadId: 'github:Codertocat/Hello-World#2',
    trigger: { source: 'webhook' },
    result: { review: { headline: expect.stringContaining('#2 Update the README') } },
    steps: { begun: 9, succeeded: 8, skipped: 1 },
  });
});
