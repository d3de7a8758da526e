import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { discovered, functionsAt } from '../../packages/local/src/emulators/discovery.ts';

const common = { region: 'us-central1', timeoutSeconds: 60, secretEnvironmentVariables: [] };
const listed = [
  { ...common, name: 'api', httpsTrigger: {}, secretEnvironmentVariables: [{ key: 'KEY', secret: 'KEY' }] },
  { ...common, name: 'work', httpsTrigger: {}, taskQueueTrigger: { retryConfig: { maxAttempts: 7 } } },
  {
    ...common,
    name: 'tick',
    eventTrigger: { eventType: 'pubsub', resource: '' },
    schedule: { schedule: 'every 1 minutes' },
  },
  {
    ...common,
    name: 'pubsub-orders',
    eventTrigger: {
      eventType: 'google.cloud.pubsub.topic.v1.messagePublished',
      eventFilters: { topic: 'projects/demo-x/topics/orders' },
    },
  },
];

test('each kind of function has its own trigger and path', () => {
  const found = discovered(listed, 'demo-x');
  expect(found.map(({ spec, path }) => [spec.name, spec.trigger.kind, path])).toEqual([
    ['api', 'https', '/demo-x/us-central1/api'],
    ['work', 'task-queue', '/demo-x/us-central1/work'],
    ['tick', 'schedule', '/demo-x/us-central1/tick-0'],
    ['pubsub-orders', 'message', '/demo-x/us-central1/pubsub-orders-0'],
  ]);
  expect(found[0]?.spec.secrets).toEqual(['KEY']);
  expect(found[1]?.spec.trigger).toMatchObject({ retry: { maxAttempts: 7 } });
  expect(found[3]?.spec.trigger).toEqual({ kind: 'message', topic: 'orders' });
});

test('the functions that the emulator lists are served, and an emulator that lists none has failed', async () => {
  let functionTriggers: unknown[] = listed;
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ backends: [{ functionTriggers }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await functionsAt(url)).toEqual(listed);
  functionTriggers = [];
  await expect(functionsAt(url)).rejects.toThrow('found no functions');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
