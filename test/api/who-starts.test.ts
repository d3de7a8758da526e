import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineBinding, defineCapability } from '../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { echo, Installation } from './installation.ts';

const pay = defineCapability({
  id: 'bank.pay',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({}),
  response: z.object({}),
});
const paying = defineWorkflow({
  type: 'paying',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    paid: step('pay', { uses: [pay] }, ({ perform }) => perform(pay, {})),
    said: step.child('say', { workflow: echo, input: () => ({ text: 'paid' }) }),
  }),
});
const binding = (id: string) => defineBinding(pay, { id, call: async () => ({}) });

async function opened(bindingId = 'bank-http') {
  const installation = new Installation([echo, paying], [binding(bindingId)]);
  const key = await installation.key('robot', { roles: ['operator'] });
  const start = async (headers: Record<string, string> = {}) => {
    const answer = await installation.post(key, { type: 'paying', input: {} }, headers);
    const { runId } = (await answer.json()) as { runId: string };
    return { answer, runId, state: () => installation.world.stateOf(runId) };
  };
  return { installation, key, start };
}

describe('a run records', () => {
  test('its author, also without a key, and whether the console or the command line was used', async () => {
    const { start } = await opened();
    for (const [sent, source] of [
      [{}, 'api'],
      [{ 'x-cairn-client': 'cli' }, 'cli'],
      [{ 'x-cairn-client': 'ui' }, 'ui'],
      [{ 'x-cairn-client': 'something' }, 'api'],
    ] as const) {
      const { state } = await start(sent);
      expect(state().trigger).toEqual({ source, userId: 'c.robot' });
    }
  });

  test('its conversation, which its children and successors share', async () => {
    const { installation, key, start } = await opened();
    const { runId, state } = await start({ 'x-a2a-correlation-id': 'conversation-7' });
    await installation.world.run();
    expect(state()).toMatchObject({ status: 'completed', a2aCorrelationId: 'conversation-7' });
    const child = [...installation.world.db.runs.keys()].find((id) => id !== runId) ?? '';
    expect(installation.world.stateOf(child)).toMatchObject({
      a2aCorrelationId: 'conversation-7',
      parent: { runId, stepId: 'say', topRunId: runId },
    });
    const replay = await installation.api.request(`/v1/runs/${runId}/replay`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'x-cairn-client': 'ui' },
    });
    const { runId: replayed } = (await replay.json()) as { runId: string };
    expect(installation.world.stateOf(replayed)).toMatchObject({
      a2aCorrelationId: 'conversation-7',
      trigger: { source: 'ui', userId: 'c.robot' },
      source: { runId, mode: 'replay', checkpointHead: String(state().checkpointHead).padStart(10, '0') },
    });
  });

  test('the bindings and the hash of its start, which are different for other ones', async () => {
    const first = (await (await opened()).start()).state().versions;
    const same = (await (await opened()).start()).state().versions;
    const other = (await (await opened('bank-queue')).start()).state().versions;
    const hash = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(first).toEqual({ capabilities: hash, bindings: hash, registryRef: hash });
    expect(same).toEqual(first);
    expect(other).toEqual({ ...first, bindings: hash });
    expect(other?.bindings).not.toBe(first?.bindings);
  });
});

test('the author of its GitHub delivery, and the conversation where its header does', async () => {
  const noted = defineWorkflow({
    type: 'noted',
    planVersion: 1,
    input: z.object({ number: z.number() }),
    on: { github: { event: 'pull_request' } },
    steps: (step) => ({ said: step('say', () => 'noted') }),
  });
  const installation = new Installation([noted]);
  const body = JSON.stringify({ action: 'opened', number: 7, sender: { login: 'octo-cat[bot]' } });
  const id = '00000000-0000-4000-8000-000000000007';
  const answer = await installation.deliver({
    body,
    id,
    headers: { 'x-a2a-correlation-id': 'conversation-8' },
  });
  const { runId } = (await answer.json()) as { runId: string };
  expect(installation.world.stateOf(runId)).toMatchObject({
    trigger: { source: 'webhook', userId: 'g.octo-cat[bot]', webhookEventId: id },
    a2aCorrelationId: 'conversation-8',
  });
});

test('the conversation of a person who triggers its schedule; slots have none', async () => {
  const installation = new Installation([echo]);
  const key = await installation.key('ops', { roles: ['operator'] });
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await installation.api.request(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { readonly id: string; readonly runId: string };
  };
  const { id } = await post('/v1/schedules', { type: 'echo', cron: '0 * * * *', input: { text: 'hi' } });
  const { runId } = await post(`/v1/schedules/${id}/trigger`, {}, { 'x-a2a-correlation-id': 'talk-9' });
  const { world } = installation;
  expect(world.stateOf(runId)).toMatchObject({
    a2aCorrelationId: 'talk-9',
    threadId: id,
    trigger: { source: 'scheduled', userId: 'c.ops' },
  });
  const slot = Date.UTC(2026, 0, 1);
  const range = { from: new Date(slot - 3_600_000).toISOString(), to: new Date(slot - 1).toISOString() };
  await post(`/v1/schedules/${id}/backfill`, range);
  const started = [...world.db.runs.keys()].filter((known) => known !== runId);
  expect(started).toHaveLength(1);
  expect(started.map((known) => world.stateOf(known).a2aCorrelationId)).toEqual([undefined]);
});

test('the conversation of the person who asks for its successor, where one is named', async () => {
  const { installation, key, start } = await opened();
  const { runId } = await start({ 'x-a2a-correlation-id': 'talk-1' });
  await installation.world.run();
  const answer = await installation.api.request(`/v1/runs/${runId}/replay`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-a2a-correlation-id': 'talk-2' },
  });
  const { runId: replayed } = (await answer.json()) as { runId: string };
  expect(installation.world.stateOf(replayed).a2aCorrelationId).toBe('talk-2');
});

test('a correlation id that no run can carry is refused with its header', async () => {
  const { start } = await opened();
  const { answer } = await start({ 'x-a2a-correlation-id': 'two words' });
  expect(answer.status).toBe(400);
});
