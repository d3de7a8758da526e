import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { GITHUB_SECONDARY_WINDOW_MS } from '../../packages/cairn/src/core/decisions/idempotency.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { secretsIn } from '../../packages/cairn/src/triggers/secrets.ts';
import { deliveryRequest, Installation } from '../api/installation.ts';

function listener(type: string, event: string, input = z.looseObject({})) {
  return defineWorkflow({
    type,
    planVersion: 1,
    input,
    on: { github: { event } },
    steps: (step) => ({ a: step('a', () => 1) }),
  });
}

const PR = listener('on-pull-request', 'pull_request');
const payload = (more: object = {}) =>
  JSON.stringify({
    action: 'synchronize',
    after: 'sha-1',
    repository: { full_name: 'acme/app' },
    pull_request: { number: 7, html_url: 'https://github.com/acme/app/pull/7' },
    ...more,
  });

test('a hundred concurrent deliveries of one id start one run', async () => {
  const installation = new Installation([PR]);
  const body = payload();
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => installation.deliver({ id: 'one', body })),
  );
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(99);
  const ids = await Promise.all(
    answers.map(async (answer) => ((await answer.json()) as { runId: string }).runId),
  );
  expect(new Set(ids).size).toBe(1);
  expect(installation.world.db.runs.size).toBe(1);
});

test.each([
  ['a second', 1_000],
  ['hours', 6 * 3_600_000],
])('the same content under another delivery id %s later is the same run', async (_when, ms) => {
  const installation = new Installation([PR]);
  const first = await installation.deliver({ id: 'hook-1', body: payload({ hook: { id: 1 } }) });
  installation.world.clock.jump(ms);
  const second = await installation.deliver({ id: 'hook-2', body: payload({ hook: { id: 2 } }) });
  const { runId } = (await first.json()) as { runId: string };
  expect(second.status).toBe(200);
  expect(await second.json()).toEqual({ duplicate: true, runId });
});

test('a captured delivery of an event without a pull request starts one run under every id', async () => {
  const installation = new Installation([listener('on-push', 'push')]);
  const push = (after: string) => JSON.stringify({ after, repository: { full_name: 'acme/app' } });
  const deliver = async (id: string, body: string) => {
    const { status } = await installation.deliver({ id, body, event: 'push' });
    return status;
  };
  expect(await deliver('d-1', push('sha-1'))).toBe(202);
  installation.world.clock.jump(3 * 3_600_000);
  expect(await deliver('d-2', push('sha-1'))).toBe(200);
  expect(await deliver('d-3', push('sha-2'))).toBe(202);
  expect(installation.world.db.runs.size).toBe(2);
});

test('a redelivery that later versions refuse is answered with the runs that it started', async () => {
  const narrow = z.looseObject({ other: z.string() });
  const types = fc.uniqueArray(fc.constantFrom('one', 'two', 'three'), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(types, fc.func(fc.boolean()), async (all, isNarrowed) => {
      const installation = new Installation(all.map((type) => listener(type, 'pull_request')));
      const body = payload();
      const first = await installation.deliver({ id: 'd-1', body });
      const { runId, runIds = [runId] } = (await first.json()) as { runId: string; runIds?: string[] };
      const later = all.map((type) => {
        const next = listener(type, 'pull_request', isNarrowed(type) ? narrow : undefined);
        return { ...next, planVersion: 2 };
      });
      const deps = { ...installation.github, registry: new WorkflowRegistry(later) };
      const again = await githubWebhook(deps, deliveryRequest({ id: 'd-1', body }));
      expect(again.status).toBe(200);
      expect(await again.json()).toMatchObject({ duplicate: true, runId });
      expect(installation.world.db.runs.size).toBe(runIds.length);
      // A redelivery that started nothing is refused as before.
      const other = deliveryRequest({ id: 'd-2', body: payload({ after: 'sha-2' }) });
      if (all.every((type) => isNarrowed(type)))
        expect(await (await githubWebhook(deps, other)).json()).toMatchObject({ ignored: true });
    }),
    { numRuns: 30 },
  );
});

test('the same content a day later starts a new run', async () => {
  const installation = new Installation([PR]);
  await installation.deliver({ id: 'd-1', body: payload() });
  installation.world.clock.jump(GITHUB_SECONDARY_WINDOW_MS);
  expect((await installation.deliver({ id: 'd-2', body: payload() })).status).toBe(202);
  expect(installation.world.db.runs.size).toBe(2);
});

test('two pushes three seconds apart start two runs', async () => {
  const installation = new Installation([PR]);
  await installation.deliver({ id: 'd-1', body: payload({ after: 'sha-1' }) });
  installation.world.clock.jump(3_000);
  expect((await installation.deliver({ id: 'd-2', body: payload({ after: 'sha-2' }) })).status).toBe(202);
  expect(installation.world.db.runs.size).toBe(2);
});

test('one delivery id with another payload is refused', async () => {
  const installation = new Installation([PR]);
  await installation.deliver({ id: 'd-1', body: payload({ after: 'sha-1' }) });
  const answer = await installation.deliver({ id: 'd-1', body: payload({ after: 'sha-2' }) });
  expect(answer.status).toBe(422);
  expect(installation.world.db.runs.size).toBe(1);
});

test('a form with the payload is equivalent to the payload', async () => {
  const installation = new Installation([PR]);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = `payload=${encodeURIComponent(payload())}`;
  expect((await installation.deliver({ id: 'd-1', body: form, headers })).status).toBe(202);
  expect((await installation.deliver({ id: 'd-1', body: payload() })).status).toBe(200);
});

test('every workflow that listens gets a run, and each is deduplicated', async () => {
  const installation = new Installation([PR, listener('other', 'pull_request'), listener('pusher', 'push')]);
  const first = await installation.deliver({ id: 'd-1', body: payload() });
  const again = await installation.deliver({ id: 'd-1', body: payload() });
  const made = (await first.json()) as { runId: string; runIds: string[] };
  expect(first.status).toBe(202);
  expect(made.runIds).toHaveLength(2);
  expect(made.runId).toBe(made.runIds[0]);
  expect(await again.json()).toEqual({ duplicate: true, ...made });
  const types = [...installation.world.db.runs.values()].map(({ snapshot }) => snapshot.type);
  expect(types.sort()).toEqual(['on-pull-request', 'other']);
});

test('a workflow that begins to listen between two deliveries of one event adds its run and repeats none', async () => {
  const installation = new Installation([PR]);
  const first = await installation.deliver({ id: 'd-1', body: payload() });
  const later = new Installation([listener('a-newcomer', 'pull_request'), PR]);
  const { registry } = later.world.deps;
  const second = await githubWebhook(
    { ...installation.github, registry },
    deliveryRequest({ id: 'd-1', body: payload() }),
  );
  const { runId } = (await first.json()) as { runId: string };
  const { runIds } = (await second.json()) as { runIds: string[] };
  expect(second.status).toBe(202);
  expect(runIds).toContain(runId);
  const types = [...installation.world.db.runs.values()].map(({ snapshot }) => snapshot.type);
  expect(types.sort()).toEqual(['a-newcomer', 'on-pull-request']);
});

test.each([
  ['an issue', 'issues', { issue: { number: 3 } }, { threadId: 'github:acme/app#3', prId: undefined }],
  [
    'a comment on a pull request',
    'issue_comment',
    { issue: { number: 4, pull_request: {}, html_url: 'https://github.com/acme/app/pull/4' } },
    { threadId: 'github:acme/app#4', prId: '4', prUrl: 'https://github.com/acme/app/pull/4' },
  ],
  ['a push', 'push', {}, { threadId: 'github:acme/app', repoId: 'acme/app', prId: undefined }],
  [
    'an invalid link',
    'pull_request',
    { pull_request: { number: 7, html_url: 'javascript:1' } },
    { prId: '7', prUrl: undefined },
  ],
  ['an invalid repository name', 'push', { repository: { full_name: 'a b/c\nd' } }, { repoId: undefined }],
])('%s is filed under its subject', async (_what, event, more, expected) => {
  const installation = new Installation([listener('any', event)]);
  const body = JSON.stringify({ action: 'created', repository: { full_name: 'acme/app' }, ...more });
  expect((await installation.deliver({ event, body })).status).toBe(202);
  const [run] = installation.world.db.runs.values();
  expect(run?.snapshot).toMatchObject(JSON.parse(JSON.stringify(expected)));
  for (const [name, value] of Object.entries(expected))
    if (value === undefined) expect(run?.snapshot[name as keyof typeof run.snapshot]).toBeUndefined();
});

test('the trace of the caller continues in the run', async () => {
  const installation = new Installation([PR]);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  await installation.deliver({
    body: payload(),
    headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
  });
  const [run] = installation.world.db.runs.values();
  expect(run?.snapshot.traceId).toBe(traceId);
});

test('while a secret is rotated the old and the new one are both valid', async () => {
  const installation = new Installation([PR]);
  const deps = {
    ...installation.github,
    secrets: () => secretsIn('GITHUB_WEBHOOK_SECRET', 'the-new-one, the-old-one'),
  };
  for (const [secret, status] of [
    ['the-new-one', 202],
    ['the-old-one', 202],
    ['another', 401],
  ] as const) {
    const request = deliveryRequest({ body: payload({ after: secret }), secret });
    expect((await githubWebhook(deps, request)).status).toBe(status);
  }
  expect(() => secretsIn('GITHUB_WEBHOOK_SECRET', ' , ')).toThrow('GITHUB_WEBHOOK_SECRET');
});
