import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { discovered } from '../../packages/local/src/emulators/discovery.ts';
import { relay } from '../../packages/local/src/emulators/relay.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

const seen: Seen[] = [];
const emulator = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, url, headers } = request;
  seen.push({ method, url, type: headers['content-type'], body: Buffer.concat(chunks).toString() });
  response.writeHead(url?.includes('teapot') ? 418 : 200, { 'x-own': 'yes' }).end('said');
});
const common = { region: 'us-central1' };
const functions = discovered(
  [
    { ...common, name: 'api', httpsTrigger: {} },
    {
      ...common,
      name: 'pubsub-orders',
      eventTrigger: {
        eventType: 'google.cloud.pubsub.topic.v1.messagePublished',
        eventFilters: { topic: 'projects/demo-x/topics/orders' },
      },
    },
  ],
  'demo-x',
);
let server: ReturnType<typeof relay>;
let url = '';

const listening = (listener: typeof emulator) =>
  new Promise<number>((resolve) => {
    listener.listen(0, '127.0.0.1', () => resolve((listener.address() as AddressInfo).port));
  });

beforeAll(async () => {
  const port = await listening(emulator);
  server = relay(new Map(functions.map((each) => [each.spec.name, each])), port);
  url = `http://127.0.0.1:${await listening(server)}`;
});
beforeEach(() => {
  seen.length = 0;
});
afterAll(() => {
  for (const each of [server, emulator]) {
    each.closeAllConnections();
    each.close();
  }
});

test('a request reaches its function with path, query, method and bytes, and its answer the caller', async () => {
  const answer = await fetch(`${url}/api/v1/teapot?a=1&b=%20`, { method: 'PUT', body: '{"é":1}' });
  expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([418, 'yes', 'said']);
  expect(seen).toMatchObject([
    { method: 'PUT', url: '/demo-x/us-central1/api/v1/teapot?a=1&b=%20', body: '{"é":1}' },
  ]);
});

test('a message arrives as the event that production makes of it', async () => {
  const message = { messageId: '7', data: 'e30=', publishTime: '2026-11-22T05:00:00Z' };
  const subscription = 'projects/demo-x/subscriptions/s';
  const body = JSON.stringify({ message, subscription });
  const answer = await fetch(`${url}/pubsub-orders/`, { method: 'POST', body });
  expect(answer.status).toBe(200);
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ method: 'POST', url: '/demo-x/us-central1/pubsub-orders-0' });
  expect(seen[0]?.type).toMatch(/^application\/cloudevents\+json/);
  expect(JSON.parse(String(seen[0]?.body))).toEqual({
    specversion: '1.0',
    id: '7',
    type: 'google.cloud.pubsub.topic.v1.messagePublished',
    source: '//pubsub.googleapis.com/projects/demo-x/topics/orders',
    time: '2026-11-22T05:00:00Z',
    datacontenttype: 'application/json',
    data: { message, subscription },
  });
});

test('the relay refuses an invalid message, and the name of an unknown function', async () => {
  expect((await fetch(`${url}/pubsub-orders/`, { method: 'POST', body: 'no' })).status).toBe(400);
  expect((await fetch(`${url}/pubsub-orders/`, { method: 'POST', body: '{}' })).status).toBe(400);
  expect((await fetch(`${url}/nobody/`)).status).toBe(404);
  expect(seen).toEqual([]);
});
