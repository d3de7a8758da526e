import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { traceparentOf } from '../../../packages/cairn/src/core/trace.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { CollectedSpans } from '../../support/collected-spans.ts';
import { PubsubEndpoint } from './endpoint.ts';

const PUBLISHER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true };
const OTHER = { ...PUBLISHER, traceId: 'a'.repeat(32) };

const orders = defineWorkflow({
  type: 'orders',
  planVersion: 1,
  input: z.object({ id: z.string() }),
  on: { pubsub: [{ topic: 'orders' }] },
  steps: (step) => ({ a: step('a', () => 1) }),
});

function opened() {
  const spans = new CollectedSpans();
  const endpoint = new PubsubEndpoint([orders]);
  const tracer = spans.tracerBy(endpoint.world.clock);
  return { endpoint, spans, traced: { tracer } };
}

describe('a message whose publisher traces', () => {
  test.each([
    ['in the standard attribute', { traceparent: traceparentOf(PUBLISHER) }],
    [
      "as Google's clients say it, which comes first",
      { googclient_traceparent: traceparentOf(PUBLISHER), traceparent: traceparentOf(OTHER) },
    ],
    ['beside an invalid one', { googclient_traceparent: 'x', traceparent: traceparentOf(PUBLISHER) }],
  ])('%s, is part of its trace, and so is the run', async (_how, attributes) => {
    const { endpoint, spans, traced } = opened();
    await endpoint.take('orders', { data: { id: 'hunter2' }, attributes }, traced);
    const [start, message] = spans.ended;
    expect(message).toMatchObject({
      name: 'process orders',
      kind: 'consumer',
      parent: PUBLISHER,
      attributes: { 'messaging.system': 'gcp_pubsub', 'cairn.message.outcome': 'started' },
    });
    expect(start).toMatchObject({ name: 'start orders', parent: message?.context });
    expect(JSON.stringify(spans.ended)).not.toContain('hunter2');
  });

  test('is part of it even if this installation collects no traces', async () => {
    const { endpoint } = opened();
    await endpoint.take('orders', {
      data: { id: '1' },
      attributes: { traceparent: traceparentOf(PUBLISHER) },
    });
    const [run] = endpoint.world.db.runs.values();
    expect(run?.snapshot).toMatchObject({ traceId: PUBLISHER.traceId, traceSampled: true });
  });
});

test('a refused or repeated message is marked as such in its span', async () => {
  const { endpoint, spans, traced } = opened();
  await endpoint.take('orders', { data: { id: 1 } }, traced);
  await endpoint.take('orders', { messageId: '2', data: { id: '1' } }, traced);
  await endpoint.take('orders', { messageId: '2', data: { id: '1' } }, traced);
  expect(
    spans
      .named('process orders')
      .map(({ attributes, failure }) => [attributes['cairn.message.outcome'], failure]),
  ).toEqual([
    [undefined, 'INVALID_INPUT'],
    ['started', undefined],
    ['repeated', undefined],
  ]);
});
