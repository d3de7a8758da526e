import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from '@jest/globals';
import { outsideOf } from '../../functions/src/hooks/hooks.ts';
import { shippedWorkflows } from '../../functions/src/workflows/index.ts';
import { GithubApi } from '../../packages/cairn/src/capabilities/github/api.ts';
import { githubBindings } from '../../packages/cairn/src/capabilities/github/bindings.ts';
import { slackRespondBinding } from '../../packages/cairn/src/capabilities/slack/respond.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { createTestRuntime } from '../../packages/cairn/src/testing/index.ts';
import { Installation } from '../api/installation.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { PretendedTarget } from '../workflows/deploy/pretended-target.ts';
import { eventWith } from '../workflows/review-pull-request/pull-request-events.ts';
import { commandsOf, requestOf } from './commands.ts';
import { writeSnippets } from './snippets.ts';

const SHA = 'e'.repeat(40);
const DEPLOYMENT = {
  service: 'shop',
  environment: 'staging',
  version: '1.1.0',
  previousVersion: '1.0.0',
  sha: SHA,
};

const snippets = writeSnippets('docs/workflows.md');
afterAll(() => snippets.remove());

/** Nothing is called: who is not asked in Slack answers nobody there. */
const bindings = [
  ...githubBindings(
    new GithubApi({ baseUrl: 'http://g', token: () => undefined, clock: new VirtualClock() }),
  ),
  slackRespondBinding({ baseUrl: 'http://s', clock: new VirtualClock() }),
];

async function deployed(workflows: readonly Workflow[]): Promise<string> {
  const runtime = createTestRuntime({ workflows, bindings, patienceMs: 30_000 });
  const run = await runtime.start('deploy', DEPLOYMENT);
  await runtime.deliver({ event: 'ci.finished', key: SHA, data: { conclusion: 'success' } });
  return runtime.runToEnd(run);
}

test('the hook of docs/workflows.md is deployed to', async () => {
  const hook = spawn(process.execPath, [snippets.at('receiver.ts'), '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(hook.stdout)[Symbol.asyncIterator]();
  try {
    const [, url] = /^DEPLOY_HOOK_URL=(.*)$/.exec((await lines.next()).value ?? '') ?? [];
    expect(await deployed(shippedWorkflows(outsideOf({ deploy: url, cleanup: undefined })))).toBe(
      'completed',
    );
    for (const line of ['lock shop/staging ', 'release shop/staging 1.1.0', 'unlock shop/staging ']) {
      expect((await lines.next()).value).toBe(line);
    }
  } finally {
    hook.kill();
    await once(hook, 'exit');
  }
});

test('the target of docs/workflows.md is deployed to', async () => {
  const { acts, workflows } = (await import(snippets.at('functions/src/my-functions.ts'))) as {
    acts: string[];
    workflows: readonly Workflow[];
  };
  expect(await deployed(workflows)).toBe('completed');
  expect(acts).toEqual(['lock shop', 'release shop 1.1.0', 'unlock shop']);
});

test.each([
  ['review-pull-request', ['sign-off', 'summarise', 'conclude', 'review-file', 'measure-size', 'verdict']],
  ['review-pull-request', ['post-comment', 'put-labels', 'set-status']],
  ['deploy', ['look-first', 'require-green', 'agree', 'lock', 'prepare', 'release', 'soak', 'check-health']],
  ['nightly-cleanup', ['find-stale', 'confirm', 'remove', 'settle', 'look-again', 'report']],
])('the steps of %s that docs/workflows.md draws are there', (type, drawn) => {
  const outside = outsideOf({ deploy: 'http://d', cleanup: 'http://c' });
  const all = shippedWorkflows({ ...outside, github: { isThere: () => true }, slack: true });
  const workflow = all.findLast((each) => each.type === type);
  expect([...(workflow?.steps.keys() ?? [])]).toEqual(expect.arrayContaining(drawn));
});

test('the commands of docs/workflows.md sign a review off, and deploy', async () => {
  const target = new PretendedTarget('1.0.0');
  const installation = new Installation(shippedWorkflows({ deployTarget: target }));
  const { world } = installation;
  const key = await installation.key('boss', { tenantId: 't1', roles: ['admin'] });
  const send = (command = '') => installation.api.request(requestOf(command, key));
  /** The status that the run comes to, if it does not pass by the one that is wanted. */
  const comesTo = async (runId: string, wanted: string) => {
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === wanted);
    return (await world.folded(runId)).status;
  };
  const [signOff, deploy, ciFinished, ...others] = commandsOf('docs/workflows.md');
  expect(others).toEqual([]);

  const review = await world.start('review-pull-request', { ...eventWith(), signOff: 'always' });
  expect(await comesTo(review, 'awaiting_approval')).toBe('awaiting_approval');
  expect((await send(signOff?.replace('ID', review))).status).toBe(200);
  expect(await comesTo(review, 'completed')).toBe('completed');

  const started = await send(deploy?.replace('COMMIT', SHA));
  expect(started.status).toBe(201);
  const { runId } = (await started.json()) as { runId: string };
  expect(await comesTo(runId, 'waiting_external')).toBe('waiting_external');
  expect((await send(ciFinished?.replace('COMMIT', SHA))).status).toBe(200);
  expect(await comesTo(runId, 'awaiting_approval')).toBe('awaiting_approval');
});
