import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../packages/cairn/src/api/app.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { startOwn } from '../../packages/cairn/src/platform/own-requests.ts';
import { echo, Installation } from './installation.ts';

const another = defineWorkflow({
  type: 'another',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ one: step('one', () => 1) }),
});

const nextEcho = (more: object) =>
  defineWorkflow({
    type: 'echo',
    planVersion: 2,
    input: z.object({ text: z.string() }),
    steps: (step) => ({ other: step('other', () => 'other') }),
    ...more,
  });

/** Deployments after the first request, each of which would refuse a request for `echo` with that input. */
const LATER: Record<string, readonly Workflow[]> = {
  'the next version takes other inputs': [echo, nextEcho({ input: z.object({ words: z.string() }) })],
  'the tags of the next version throw': [
    echo,
    nextEcho({
      tags: () => {
        throw new Error('no tags');
      },
    }),
  ],
  'the workflow is left out': [another],
  'the version changed': [{ ...nextEcho({}), planVersion: 1 }],
};

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** An instance of the installation with other deployed workflows. */
function deployed(installation: Installation, workflows: readonly Workflow[]) {
  const registry = new WorkflowRegistry(workflows);
  const api = createApi({ ...installation.apiDeps, registry });
  return { registry, send: (key: string, sent: Sent, name?: string) => send(api, { key, sent, name }) };
}

async function send(
  api: ReturnType<typeof createApi>,
  { key, sent, name }: { readonly key: string; readonly sent: Sent; readonly name: string | undefined },
) {
  const { method, path, body } = sent;
  const answer = await api.request(path, {
    method,
    body: JSON.stringify(body ?? {}),
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(name === undefined ? {} : { 'idempotency-key': name }),
    },
  });
  return { status: answer.status, text: await answer.text() };
}

const START: Sent = { method: 'POST', path: '/v1/runs', body: { type: 'echo', input: { text: 'hello' } } };
const SCHEDULE: Sent = {
  method: 'POST',
  path: '/v1/schedules',
  body: { type: 'echo', cron: '0 8 * * *', timezone: 'Europe/Berlin', input: { text: 'hello' } },
};

describe.each(Object.entries(LATER))('after a deployment in which %s', (_, workflows) => {
  async function ready() {
    const installation = new Installation();
    const key = await installation.key('ops', { roles: ['operator'] });
    return { installation, key };
  }

  test('the repetition of a start has the run of the first', async () => {
    const { installation, key } = await ready();
    const first = await send(installation.api, { key, sent: START, name: 'k1' });
    expect(first.status).toBe(201);
    const again = await deployed(installation, workflows).send(key, START, 'k1');
    expect(again).toEqual({ status: 200, text: first.text });
    expect(installation.world.db.runs.size).toBe(1);
  });

  test('the repetition of a start by the codebase itself has it too', async () => {
    const { installation } = await ready();
    const { apiDeps } = installation;
    const startRequest = {
      tenantId: 'acme',
      type: 'echo',
      input: { text: 'hello' },
      idempotencyKey: 'k1',
    };
    const { runId } = await startOwn(apiDeps, startRequest);
    const later = { ...apiDeps, registry: deployed(installation, workflows).registry };
    expect(await startOwn(later, startRequest)).toEqual({ runId, replayed: true });
  });

  test('a start with another key, or without one, is refused as before', async () => {
    const { installation, key } = await ready();
    await send(installation.api, { key, sent: START, name: 'k1' });
    const { send: later } = deployed(installation, workflows);
    const refused = await later(key, START);
    expect([400, 409]).toContain(refused.status);
    expect(await later(key, START, 'k2')).toEqual(refused);
  });

  test('the repetition of a new schedule has the schedule of the first', async () => {
    const { installation, key } = await ready();
    const first = await send(installation.api, { key, sent: SCHEDULE, name: 's1' });
    expect(first.status).toBe(201);
    const again = await deployed(installation, workflows).send(key, SCHEDULE, 's1');
    expect(again).toEqual(first);
  });
});

test('another request under a used key is refused for what is wrong with it', async () => {
  const installation = new Installation();
  const key = await installation.key('ops', { roles: ['operator'] });
  await send(installation.api, { key, sent: START, name: 'k1' });
  await send(installation.api, { key, sent: SCHEDULE, name: 's1' });
  const { send: later } = deployed(installation, [another]);
  const start = { ...START, body: { type: 'echo', input: { text: 'another' } } };
  expect(await later(key, start, 'k1')).toMatchObject({ status: 400 });
  const schedule = { ...SCHEDULE, body: { ...SCHEDULE.body, cron: '0 9 * * *' } };
  expect(await later(key, schedule, 's1')).toMatchObject({ status: 404 });
});

const asking = defineWorkflow({
  type: 'asking',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    agreed: step.approval('agree', { ask: () => 'Go on?' }),
    sent: step.event('sent', { event: 'sent', key: () => 'k' }),
    note: step.event('note', { event: 'note', key: () => 'k' }),
  }),
});

const ANSWERS: readonly { readonly path: string; readonly body: object }[] = [
  { path: 'approvals/agree', body: { decision: 'approve', waitId: 'agree.1' } },
  { path: 'signals', body: { name: 'sent', data: 1 } },
  { path: 'waits/note/fail', body: { reason: 'nothing came' } },
];

test.each(ANSWERS)(
  'what $path answers while the version of the run is not deployed does not outlast that',
  async ({ path, body }) => {
    const installation = new Installation([asking]);
    const key = await installation.key('ops', { roles: ['operator'] });
    const started = await send(installation.api, {
      key,
      sent: { ...START, body: { type: 'asking', input: {} } },
      name: undefined,
    });
    const { runId } = JSON.parse(started.text) as { runId: string };
    await installation.world.run();
    const sent = { method: 'POST', path: `/v1/runs/${runId}/${path}`, body };
    const left = await deployed(installation, [another]).send(key, sent, 'k1');
    expect([left.status, JSON.parse(left.text).code]).toEqual([409, 'PLAN_VERSION_UNAVAILABLE']);
    const back = await deployed(installation, [asking]).send(key, sent, 'k1');
    expect(back.status).toBe(200);
    expect(await deployed(installation, [another]).send(key, sent, 'k1')).toEqual(back);
  },
);
