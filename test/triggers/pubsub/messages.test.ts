import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { pubsub } from '../../../functions/src/index.ts';
import { deployTo } from '../../../functions/src/workflows/deploy/workflow.ts';
import { shippedWorkflows } from '../../../functions/src/workflows/index.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import type { PubsubMessage } from '../../../packages/cairn/src/engine/define/pubsub.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { MAX_BODY_DEPTH, MAX_BODY_VALUES } from '../../../packages/cairn/src/http/json-shape.ts';
import { intercept } from '../../support/intercept.ts';
import { delivered, PubsubEndpoint, type Sent } from './endpoint.ts';
import { topicsOf } from './topics-of.ts';

/** Takes some seconds. `FUZZ_INPUTS=20000` before the command tests more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 1_000);

const order = z.object({ id: z.string().min(1), amount: z.number() });

const steps = () => (step: (id: string, body: () => number) => { id: string }) => ({ a: step('a', () => 1) });

const orders = defineWorkflow({
  type: 'orders',
  planVersion: 1,
  input: order,
  on: {
    pubsub: [
      { topic: 'orders' },
      {
        topic: 'order-lines',
        input: ({ text, attributes }: PubsubMessage) => {
          if (attributes.broken) throw new Error('a slip of the author');
          const [id, amount] = text.split(';');
          return { id, amount: Number(amount) };
        },
      },
    ],
  },
  steps: steps() as never,
});

const waiting = defineWorkflow({
  type: 'waiting',
  planVersion: 1,
  input: z.object({ key: z.string() }),
  on: {
    pubsub: [
      { topic: 'events', deliver: 'attributes' },
      {
        topic: 'builds',
        deliver: ({ json }: PubsubMessage) => {
          const { sha, ok } = (json ?? {}) as { sha?: string; ok?: boolean };
          return ok === undefined || sha === undefined
            ? undefined
            : { event: 'paid', key: sha, data: { ok } };
        },
      },
    ],
  },
  steps(step) {
    return { paid: step.event('paid', { event: 'paid', key: ({ input }) => input.key }) };
  },
});

const open = () => new PubsubEndpoint([orders, waiting]);

describe('a message of a topic that starts runs', () => {
  test('has the conversation that its attribute names; an invalid one is refused', async () => {
    const endpoint = open();
    const data = { id: 'o1', amount: 3 };
    const taken = await endpoint.take('orders', { data, attributes: { a2aCorrelationId: 'conversation-9' } });
    const { runId } = taken as { readonly runId: string };
    expect(endpoint.world.stateOf(runId)).toMatchObject({
      a2aCorrelationId: 'conversation-9',
      trigger: { source: 'webhook', userId: 'p.orders', webhookEventId: '1' },
    });
    const refused = { data, messageId: '2', attributes: { a2aCorrelationId: 'two words' } };
    expect(await endpoint.take('orders', refused)).toEqual({ kind: 'refused', code: 'INVALID_INPUT' });
    expect(endpoint.world.db.runs.size).toBe(1);
  });

  test('starts one run with its data, however often it is delivered', async () => {
    const endpoint = open();
    const sent = { data: { id: 'o1', amount: 3, note: 'not asked for' }, messageId: '77' };
    const first = await endpoint.take('orders', sent);
    const again = await Promise.all(Array.from({ length: 20 }, () => endpoint.take('orders', sent)));
    expect(first).toMatchObject({ kind: 'started' });
    for (const taken of again) expect(taken).toEqual({ ...first, kind: 'repeated' });
    const [run] = [...endpoint.world.db.runs.values()];
    expect(endpoint.world.db.runs.size).toBe(1);
    expect(run?.snapshot).toMatchObject({
      type: 'orders',
      tenantId: 't1',
      idempotencyKey: 'pubsub:eventarc-x:77',
      input: { text: '{"amount":3,"id":"o1"}' },
      trigger: { source: 'webhook', userId: expect.stringMatching(/^p\./), webhookEventId: '77' },
    });
  });

  test('is a different message under another id, or from another subscription', async () => {
    const endpoint = open();
    const data = { id: 'o1', amount: 3 };
    await endpoint.take('orders', { data, messageId: '1' });
    await endpoint.take('orders', { data, messageId: '2' });
    await endpoint.take('orders', { data, messageId: '1', subscription: 'other' });
    expect(endpoint.world.db.runs.size).toBe(3);
  });

  test('is read by the mapping of the workflow, if there is one', async () => {
    const endpoint = open();
    await endpoint.take('order-lines', { raw: Buffer.from('o7;12.5').toString('base64') });
    const [run] = [...endpoint.world.db.runs.values()];
    expect(run?.snapshot.input).toEqual({ text: '{"amount":12.5,"id":"o7"}' });
  });

  test.each([
    ['many commas', `o7;12.5;${','.repeat(MAX_BODY_VALUES)}`],
    ['many lines of JSON', `{};12.5;${'\n{"a":1}'.repeat(MAX_BODY_VALUES)}`],
    ['many brackets', `o7;12.5;${'['.repeat(MAX_BODY_DEPTH + 1)}`],
  ])('is read by the mapping as text with %s, which is not JSON', async (_, text) => {
    expect(await open().take('order-lines', { raw: base64(text) })).toMatchObject({ kind: 'started' });
  });
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a permanently invalid message is acknowledged and logged, and writes nothing', () => {
  test.each<[string, string, Sent, string]>([
    ['not JSON', 'orders', { raw: base64('o1;3') }, 'INVALID_INPUT'],
    ['not UTF-8', 'orders', { raw: Buffer.from([0xff, 0xfe]).toString('base64') }, 'INVALID_INPUT'],
    ['empty', 'orders', {}, 'INVALID_INPUT'],
    ['refused by the schema of the workflow', 'orders', { data: { id: '', amount: 1 } }, 'INVALID_INPUT'],
    ['nested too deep', 'orders', { raw: base64('['.repeat(5_000)) }, 'INVALID_INPUT'],
    ['not readable by the mapping', 'order-lines', { raw: base64('o1') }, 'INVALID_INPUT'],
    ['one on which its mapping fails', 'order-lines', { attributes: { broken: '1' } }, 'INVALID_INPUT'],
    ['of a topic without a subscription', 'unknown', { data: 1 }, 'NOT_FOUND'],
    ['an event without a key', 'events', { data: 1, attributes: { event: 'paid' } }, 'INVALID_INPUT'],
    [
      'an event that is not JSON',
      'events',
      { raw: base64('x'), attributes: { event: 'a', key: 'b' } },
      'INVALID_INPUT',
    ],
    [
      'an event with an empty key',
      'events',
      { data: 1, attributes: { event: 'a', key: '' } },
      'INVALID_INPUT',
    ],
    [
      'an event that is too large',
      'events',
      { data: 'x'.repeat(300_000), attributes: { event: 'a', key: 'b' } },
      'PAYLOAD_TOO_LARGE',
    ],
    [
      'one with an id that is not a valid key',
      'orders',
      { data: { id: 'a', amount: 1 }, messageId: 'a b' },
      'INVALID_INPUT',
    ],
  ])('%s', async (_, topic, sent, code) => {
    const endpoint = open();
    expect(await endpoint.take(topic, sent)).toEqual({ kind: 'refused', code });
    expect(endpoint.errors).toContain('pubsub_message_refused');
    expect(endpoint.written()).toBe(0);
  });

  test('the same id with another payload is refused and changes nothing', async () => {
    const endpoint = open();
    await endpoint.take('orders', { data: { id: 'a', amount: 1 } });
    const before = endpoint.written();
    const other = await endpoint.take('orders', { data: { id: 'a', amount: 2 } });
    expect(other).toEqual({ kind: 'refused', code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(endpoint.written()).toBe(before);
  });
});

describe('a message with an event', () => {
  test('is received once by the run that waits', async () => {
    const endpoint = open();
    const runId = await endpoint.world.start('waiting', { key: 'k1' });
    await endpoint.world.run(
      () => endpoint.world.db.mailboxes.size > 0 && endpoint.world.queue.pending.length === 0,
    );
    const sent = { data: { sum: 3 }, attributes: { event: 'paid', key: 'k1' } };
    expect(await endpoint.take('events', sent)).toEqual({ kind: 'delivered', runs: 1 });
    await endpoint.world.run();
    expect((await endpoint.world.folded(runId)).status).toBe('completed');
    // A repetition is recognised, so the next run that waits does not get it.
    await endpoint.take('events', sent);
    const next = await endpoint.world.start('waiting', { key: 'k1' });
    const { clock } = endpoint.world;
    const until = clock.now() + 60_000;
    await endpoint.world.run(() => clock.now() > until);
    expect((await endpoint.world.folded(next)).status).toBe('waiting_external');
  });

  test('waits for the run that will ask, even without data', async () => {
    const endpoint = open();
    expect(await endpoint.take('events', { attributes: { event: 'paid', key: 'k2' } })).toEqual({
      kind: 'delivered',
      runs: 0,
    });
    const runId = await endpoint.world.start('waiting', { key: 'k2' });
    await endpoint.world.run();
    expect((await endpoint.world.folded(runId)).result).toEqual({ text: '{"paid":null}' });
  });

  test('is ignored if the mapping function returns nothing', async () => {
    const endpoint = open();
    expect(await endpoint.take('builds', { data: { sha: 'abc' } })).toEqual({ kind: 'ignored' });
    expect(endpoint.written()).toBe(0);
    expect(await endpoint.take('builds', { data: { sha: 'abc', ok: true } })).toMatchObject({
      kind: 'delivered',
    });
  });
});

test('a message is rejected while the store does not respond, and accepted at the next delivery', async () => {
  const endpoint = open();
  const store = intercept(endpoint.world.store, async ({ method }, proceed) => {
    if (method === 'start') throw new CairnError('UNAVAILABLE', 'not now');
    return proceed();
  });
  const sent = { data: { id: 'a', amount: 1 } };
  await expect(endpoint.take('orders', sent, { store })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(endpoint.written()).toBe(0);
  expect(await endpoint.take('orders', sent)).toMatchObject({ kind: 'started' });
});

test(`of ${INPUTS} odd messages none throws, and none that is refused writes anything`, async () => {
  const endpoint = open();
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'paid', 'k', '\u0000', '\ud83d'),
  );
  const data = fc.oneof(
    { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 4 }).map((value) => base64(JSON.stringify(value))) },
    {
      weight: 2,
      arbitrary: fc.record({ id: text, amount: fc.double() }).map((value) => base64(JSON.stringify(value))),
    },
    {
      weight: 2,
      arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    },
    { weight: 1, arbitrary: text },
  );
  const message = fc.record(
    {
      messageId: text,
      data: fc.oneof(data, fc.jsonValue()),
      attributes: fc.oneof(fc.dictionary(text, text), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const whole = fc.oneof(
    { weight: 9, arbitrary: fc.record({ subscription: fc.oneof(fc.constant('s'), text), message }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  const usual = fc
    .tuple(data, fc.nat(), text, text)
    .map(([raw, n, event, key]) => delivered({ raw, messageId: String(n), attributes: { event, key } }));
  const topics = fc.constantFrom('orders', 'order-lines', 'events', 'builds', 'unknown');
  const kinds = new Set<string>();
  const { takeMessage } = await import('../../../packages/cairn/src/triggers/pubsub/take-message.ts');
  await fc.assert(
    fc.asyncProperty(topics, fc.oneof(whole, usual), async (topic, given) => {
      const before = endpoint.written();
      const taken = await takeMessage(endpoint.deps, topic, given);
      kinds.add(taken.kind);
      if (taken.kind === 'refused' || taken.kind === 'ignored') expect(endpoint.written()).toBe(before);
    }),
    { numRuns: INPUTS },
  );
  expect([...kinds].sort()).toEqual(expect.arrayContaining(['delivered', 'ignored', 'refused', 'started']));
});

describe('a subscription of a workflow', () => {
  const define = (pubsub: unknown, type = 'a') =>
    defineWorkflow({
      type,
      planVersion: 1,
      input: z.object({}),
      on: { pubsub: pubsub as never },
      steps: steps() as never,
    });

  test.each([
    [{ topic: 'a' }, 'not a topic name'],
    [{ topic: 'google-things' }, 'not a topic name'],
    [{ topic: 'projects/p/topics/t' }, 'not a topic name'],
    [[{ topic: 'orders' }, { topic: 'orders' }], 'is listed twice'],
    [{ topic: 'orders', input: () => 1, deliver: 'attributes' }, 'not both'],
    [{ topic: 'orders', deliver: 'headers' }, "by 'attributes' or by a function"],
  ])('is refused at load if it is invalid: %j', (pubsub, why) => {
    expect(() => define(pubsub)).toThrow(why);
  });

  test('is refused if two workflows would receive one message', () => {
    const both = [define({ topic: 'orders' }), define({ topic: 'orders', deliver: 'attributes' }, 'b')];
    expect(() => new WorkflowRegistry(both)).toThrow("'a' and 'b' both subscribe to the topic 'orders'");
  });

  test('has a function for each topic of the shipped workflows, and no other', () => {
    const nothing = {} as never;
    const topics = Object.values(pubsub).map((each) => each.__endpoint.eventTrigger?.eventFilters.topic);
    expect(topicsOf(shippedWorkflows({ deployTarget: nothing, janitor: nothing }))).toEqual(topics);
  });
});

test('the message of Cloud Build about a finished build is the event that a deployment waits for, and no other is', () => {
  const [, builds] = deployTo({} as never).pubsub;
  const messageWith = (json: unknown) =>
    typeof builds?.deliver === 'function' ? builds.deliver({ json } as PubsubMessage) : undefined;
  const substitutions = { COMMIT_SHA: 'a'.repeat(40), BRANCH_NAME: 'main' };
  expect(messageWith({ status: 'SUCCESS', logUrl: 'https://x', substitutions })).toEqual({
    event: 'ci.finished',
    key: 'a'.repeat(40),
    data: { conclusion: 'success', url: 'https://x' },
  });
  expect(messageWith({ status: 'TIMEOUT', substitutions })?.data).toEqual({ conclusion: 'failure' });
  for (const status of ['QUEUED', 'WORKING', 'PENDING', 'constructor', '']) {
    expect(messageWith({ status, substitutions })).toBeUndefined();
  }
  for (const other of [
    undefined,
    null,
    1,
    'SUCCESS',
    {},
    { status: 'SUCCESS' },
    { status: 'SUCCESS', substitutions: {} },
  ]) {
    expect(messageWith(other)).toBeUndefined();
  }
});
