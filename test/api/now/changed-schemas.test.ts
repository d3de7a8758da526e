/** Questions and events that a run waits for while a deployment changes their schemas within the version. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from '../installation.ts';

type Schema = z.ZodType | undefined;

const inGraph = (data: Schema) =>
  defineWorkflow({
    type: 'refund',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ agreed: step.approval('agree', { ask: () => 'Refund?', data } as never) }),
  });
const inFlow = (data: Schema) =>
  defineWorkflow({
    type: 'refund',
    planVersion: 1,
    input: z.object({}),
    ...(data && { answers: { agree: data } }),
    run: async (flow) => JSON.stringify(await flow.approval('agree', 'Refund?')),
  });
const byEvent = (output: Schema) =>
  defineWorkflow({
    type: 'refund',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ agreed: step.event('agree', { event: 'agree', key: () => 'k', output } as never) }),
  });

const upTo = (most: number) => z.object({ cents: z.number().max(most) });
const few = upTo(10);
const many = upTo(1_000);

async function waiting(workflow: Workflow, changed: Workflow) {
  const installation = new Installation([workflow]);
  const { world, apiDeps } = installation;
  const key = await installation.key('ops', { roles: ['operator'] });
  const started = await installation.post(key, { type: 'refund', input: {} });
  const { runId } = (await started.json()) as { runId: string };
  await world.run(() => (world.db.runs.get(runId)?.snapshot.waits.length ?? 0) > 0);
  await world.run(() => world.db.runs.get(runId)?.snapshot.lease === undefined);
  const api = createApi({ ...apiDeps, registry: new WorkflowRegistry([changed]) });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const get = async (path: string) => (await api.request(path, { headers })).json();
  const post = async (path: string, body: object) => {
    const answer = await api.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  return { runId, get, post };
}

const SHOWN_MANY = { properties: { cents: { maximum: 1_000 } } };

describe.each([
  ['of an approval', inGraph, 'agree'],
  ['of an approval in a flow', inFlow, 'flow[agree]'],
])('the schema %s', (_, define, step) => {
  test('is shown as it is deployed, in the run and in the inbox, and what fits it is accepted', async () => {
    const { runId, get, post } = await waiting(define(few), define(many));
    expect(await get(`/v1/runs/${runId}`)).toMatchObject({ waits: [{ dataSchema: SHOWN_MANY }] });
    expect(await get('/v1/inbox')).toMatchObject({ items: [{ dataSchema: SHOWN_MANY }] });
    const approval = { decision: 'approve', data: { cents: 500 } };
    expect(await post(`/v1/runs/${runId}/approvals/${step}`, approval)).toMatchObject({ status: 200 });
  });
});

describe('the schema of an approval in a flow', () => {
  test('that was removed is not shown, and the question is answered without data', async () => {
    const { runId, get, post } = await waiting(inFlow(few), inFlow(undefined));
    const { waits } = (await get(`/v1/runs/${runId}`)) as { readonly waits: readonly object[] };
    expect(waits.map((wait) => 'dataSchema' in wait)).toEqual([false]);
    const approve = { act: 'approve', filter: { type: 'refund' } };
    for (const dryRun of [true, false])
      expect(await post('/v1/runs/bulk', { ...approve, dryRun })).toMatchObject({
        body: { counts: dryRun ? { possible: 1 } : { done: 1 } },
      });
  });

  test('that was added is shown, and a change of many runs leaves the question to a person', async () => {
    const { runId, get, post } = await waiting(inFlow(undefined), inFlow(many));
    expect(await get(`/v1/runs/${runId}`)).toMatchObject({ waits: [{ dataSchema: SHOWN_MANY }] });
    for (const dryRun of [true, false])
      expect(await post('/v1/runs/bulk', { act: 'approve', runs: [runId], dryRun })).toMatchObject({
        body: { results: [{ outcome: 'failed', problem: { code: 'INVALID_INPUT', stepId: 'flow[agree]' } }] },
      });
  });
});

test('the schema of an event is shown as it is deployed', async () => {
  const { runId, get, post } = await waiting(byEvent(few), byEvent(many));
  expect(await get(`/v1/runs/${runId}`)).toMatchObject({ waits: [{ dataSchema: SHOWN_MANY }] });
  expect(await post(`/v1/runs/${runId}/signals`, { name: 'agree', data: { cents: 500 } })).toMatchObject({
    body: { outcome: 'taken_in' },
  });
});

test('a schema is shown as it was stored while the version is not deployed', async () => {
  const { runId, get } = await waiting(inGraph(few), { ...inGraph(many), planVersion: 2 });
  const stored = { properties: { cents: { maximum: 10 } } };
  expect(await get(`/v1/runs/${runId}`)).toMatchObject({ waits: [{ dataSchema: stored }] });
});
