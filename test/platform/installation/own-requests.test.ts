import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { resultOwn, signalOwn, startOwn } from '../../../packages/cairn/src/platform/own-requests.ts';
import { World } from '../../support/world.ts';

const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: z.object({ amount: z.number() }),
  steps: (step) => ({ paid: step.event('paid', { event: 'paid', key: () => 'any' }) }),
});

function installed(workflows = [order]) {
  const world = new World({ workflows });
  return { world, deps: { ...world.deps, records: world.records, environment: 'test' } };
}
const acme = { tenantId: 'acme', actor: 'user-1' };

test('an app starts a run, signals it and reads its result without a key of the API', async () => {
  const { world, deps } = installed();
  const { runId, replayed } = await startOwn(deps, { type: 'order', input: { amount: 3 }, ...acme });
  expect(replayed).toBe(false);
  await signalOwn(deps, { runId, signal: { name: 'paid', key: 'any', data: { by: 'card' } }, ...acme });
  await world.run();
  expect(await resultOwn(deps, { runId, tenantId: 'acme' })).toEqual({
    runId,
    status: 'completed',
    result: { paid: { by: 'card' } },
  });
});

test('a run belongs to the conversation that the app names; an invalid one is refused', async () => {
  const { world, deps } = installed();
  const start = (a2aCorrelationId: string) =>
    startOwn(deps, { type: 'order', input: { amount: 3 }, ...acme, a2aCorrelationId });
  const { runId } = await start('conversation-9');
  expect(world.stateOf(runId).a2aCorrelationId).toBe('conversation-9');
  await expect(start('two words')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    field: 'a2aCorrelationId',
  });
  expect(world.db.runs.size).toBe(1);
});

test.each(['', 'two words', 'x'.repeat(256)])('a thread with the id %j is refused', async (threadId) => {
  const { world, deps } = installed();
  const start = startOwn(deps, { type: 'order', input: { amount: 3 }, ...acme, threadId });
  await expect(start).rejects.toMatchObject({ code: 'INVALID_INPUT', field: 'threadId' });
  expect(world.db.runs.size).toBe(0);
});

test('an input with a date that the schema drops is accepted, as of a Firestore document', async () => {
  const { world, deps } = installed();
  await startOwn(deps, { type: 'order', input: { amount: 3, createdAt: new Date(0) }, ...acme });
  expect(world.db.runs.size).toBe(1);
});

test.each([
  ['a Map', (value: string) => new Map([['colour', value]])],
  ['a Set', (value: string) => ({ colours: new Set([value]) })],
  ['a date', (value: string) => [new Date(value.length)]],
])('a key that was used with another content of %s is refused', async (_, noteOf) => {
  const { deps } = installed();
  const start = (value: string) =>
    startOwn(deps, {
      type: 'order',
      input: { amount: 3, note: noteOf(value) },
      idempotencyKey: 'k',
      ...acme,
    });
  await start('red');
  expect(await start('red')).toMatchObject({ replayed: true });
  await expect(start('green')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
});

const cycle: Record<string, unknown> = {};
cycle.self = cycle;

test.each([
  ['NaN', { amount: Number.NaN }, 'input.amount is NaN, which JSON cannot represent'],
  ['a big integer', { amount: 3n }, 'input.amount is a bigint'],
  ['a lone surrogate', { amount: 3, note: '\ud800' }, 'input.note is a string with a lone surrogate'],
  ['a cycle', cycle, 'input.self is a reference cycle'],
])('an input with %s, which JSON cannot carry, is refused as such', async (_, input, message) => {
  const { world, deps } = installed();
  await expect(startOwn(deps, { type: 'order', input, ...acme })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    field: expect.stringMatching(/^input\b/),
    message,
  });
  expect(world.db.runs.size).toBe(0);
});

test('a repetition with the same key starts nothing, and other tenants and actors have their own keys', async () => {
  const { deps } = installed();
  const start = (asking: { tenantId: string; actor?: string }, amount = 3) =>
    startOwn(deps, { type: 'order', input: { amount }, idempotencyKey: 'order-7', ...asking });
  const first = await start(acme);
  expect(await start(acme)).toEqual({ runId: first.runId, replayed: true });
  for (const asking of [{ tenantId: 'acme' }, { tenantId: 'other', actor: 'user-1' }])
    expect((await start(asking)).replayed).toBe(false);
  await expect(start(acme, 4)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
});

test('a repeated signal is one signal', async () => {
  const { world, deps } = installed();
  const { runId } = await startOwn(deps, { type: 'order', input: { amount: 3 }, ...acme });
  const send = () =>
    signalOwn(deps, { runId, signal: { name: 'paid', data: 1 }, idempotencyKey: 'evt-1', ...acme });
  await send();
  const { length } = world.db.runs.get(runId)?.events ?? [];
  await send();
  expect(world.db.runs.get(runId)?.events).toHaveLength(length);
});

test('a run of another tenant is answered as missing', async () => {
  const { deps } = installed();
  const { runId } = await startOwn(deps, { type: 'order', input: { amount: 3 }, ...acme });
  const stranger = { tenantId: 'other' };
  await expect(resultOwn(deps, { runId, ...stranger })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  await expect(signalOwn(deps, { runId, signal: { name: 'paid' }, ...stranger })).rejects.toMatchObject({
    code: 'RUN_NOT_FOUND',
  });
  await expect(startOwn(deps, { type: 'ordr', input: {}, ...acme })).rejects.toThrow("no workflow 'ordr'");
});

test('an app whose workflow is missing learns which are deployed, or that none is', async () => {
  const start = (workflows?: (typeof order)[]) =>
    startOwn(installed(workflows).deps, { type: 'ordr', input: {}, ...acme });
  await expect(start()).rejects.toThrow("no workflow 'ordr' is deployed; deployed workflows: order");
  await expect(start([])).rejects.toThrow("no workflow 'ordr' is deployed; deployed workflows: none");
});
