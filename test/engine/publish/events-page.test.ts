import { afterAll, expect, test } from '@jest/globals';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { writeSnippets } from '../../docs/snippets.ts';
import { PubsubEndpoint } from '../../triggers/pubsub/endpoint.ts';
import { topicsOf } from '../../triggers/pubsub/topics-of.ts';

const snippets = writeSnippets('docs/events.md');
afterAll(() => snippets.remove());

test('the workflows of docs/events.md receive messages as the page says, each topic by a function', async () => {
  const { orders, payments } = (await import(snippets.at('functions/src/workflows/orders.ts'))) as Record<
    'orders' | 'payments',
    Workflow
  >;
  expect(topicsOf([orders, payments])).toEqual(['order-lines', 'orders', 'payments']);
  const endpoint = new PubsubEndpoint([orders, payments]);
  expect(await endpoint.take('orders', { data: { id: 'a', amount: 1 } })).toMatchObject({ kind: 'started' });
  const line = { raw: Buffer.from('b;2').toString('base64'), messageId: '2' };
  expect(await endpoint.take('order-lines', line)).toMatchObject({ kind: 'started' });
  expect(await endpoint.take('payments', { attributes: { state: 'open', order: 'b' } })).toEqual({
    kind: 'ignored',
  });
  const settled = { attributes: { state: 'settled', order: 'b' }, data: { sum: 2 }, messageId: '3' };
  expect(await endpoint.take('payments', settled)).toMatchObject({ kind: 'delivered' });
  const { db, clock } = endpoint.world;
  await endpoint.world.run(
    () =>
      clock.now() > Date.UTC(2100, 0) ||
      [...db.runs.values()].some(({ snapshot }) => snapshot.status === 'completed'),
  );
  const ended = [...db.runs.values()].filter(({ snapshot }) => snapshot.status === 'completed');
  expect(ended.map(({ snapshot }) => snapshot.result)).toEqual([
    { text: '{"booked":"b: 2","paid":{"sum":2}}' },
  ]);
});
