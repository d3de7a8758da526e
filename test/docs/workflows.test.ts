import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/** Bindings that are never called, because no request comes from Slack. */
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

test('the hook of docs/workflows.md deploys', async () => {
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

test('the target of docs/workflows.md deploys', async () => {
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
])('the steps of %s drawn in docs/workflows.md exist', (type, drawn) => {
  const outside = outsideOf({ deploy: 'http://d', cleanup: 'http://c' });
  const all = shippedWorkflows({ ...outside, github: { isThere: () => true }, slack: true });
  const workflow = all.findLast((each) => each.type === type);
  expect([...(workflow?.steps.keys() ?? [])]).toEqual(expect.arrayContaining(drawn));
});

test('the commands of docs/workflows.md approve a review, and deploy', async () => {
  const target = new PretendedTarget('1.0.0');
  const installation = new Installation(shippedWorkflows({ deployTarget: target }));
  const { world } = installation;
  const key = await installation.key('boss', { tenantId: 't1', roles: ['admin'] });
  const send = (command = '') => installation.api.request(requestOf(command, key));
  /** Waits for the wanted status of the run, or for its end. */
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

test('the CI job of docs/workflows.md sends the files of all pages with the GitHub event', async () => {
  const installation = new Installation(shippedWorkflows({}));
  const key = await installation.key('ci', { tenantId: 't1', roles: ['submitter'] });
  const all = Array.from({ length: 130 }, (_, i) => ({
    filename: `src/${i}.ts`,
    status: 'added',
    additions: i,
    deletions: 0,
  }));
  const requests: string[] = [];
  // Stands in for GitHub's API and Cairn's.
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://here');
    const authorization = String(request.headers.authorization);
    if (url.pathname.startsWith('/repos/')) {
      requests.push(`${url.pathname}${url.search} ${authorization}`);
      const from = (Number(url.searchParams.get('page')) - 1) * 100;
      response.end(JSON.stringify(all.slice(from, from + 100)));
      return;
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const headers = {
      authorization,
      'content-type': 'application/json',
      'idempotency-key': String(request.headers['idempotency-key']),
    };
    const answer = await installation.api.request(url.pathname, { method: 'POST', headers, body });
    response.writeHead(answer.status).end(await answer.text());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const GITHUB_EVENT_PATH = `${snippets.folder}/event.json`;
  writeFileSync(GITHUB_EVENT_PATH, JSON.stringify(eventWith()));
  const given = { CAIRN_URL: here, CAIRN_API_KEY: key, GITHUB_API_URL: here, GITHUB_TOKEN: 'token' };
  const env = { ...process.env, ...given, GITHUB_EVENT_PATH, GITHUB_SHA: SHA };
  const job = spawn(process.execPath, [snippets.at('review.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let printed = '';
    job.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    expect(await once(job, 'close')).toEqual([0, null]);
    const run = await installation.get(`/v1/runs/${printed.trim()}`, key);
    expect(await run.json()).toMatchObject({ input: { number: 7, files: all } });
    expect(requests).toEqual(
      [1, 2].map((page) => `/repos/acme/shop/pulls/7/files?per_page=100&page=${page} Bearer token`),
    );
  } finally {
    job.kill();
    server.close();
  }
});
