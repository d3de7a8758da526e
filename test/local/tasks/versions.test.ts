/** The beta versions of Cloud Tasks, BufferTask and the locations, by the unmodified clients. */
import { once } from 'node:events';
import { request } from 'node:http';
import { v2beta2, v2beta3 } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { UriOverride } from '../../../packages/local-tasks/src/http-target/model.ts';
import { overriddenUrl } from '../../../packages/local-tasks/src/http-target/override.ts';
import { outcomesOf, type Step } from '../both-transports.ts';
import { restOptions } from '../rest-auth.ts';
import { LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

const APP = { appEngineUrl: 'http://127.0.0.1:1/app' };
const INVALID_ARGUMENT = 3;
const UNIMPLEMENTED = 12;
const HOST = 'v.s.demo-cairn.appspot.com';
const task = `${QUEUE}/tasks/chosen`;
const later = { seconds: Date.UTC(2026, 0, 2) / 1000 };
const httpTarget = {
  uriOverride: {
    scheme: 'HTTP',
    host: '127.0.0.1',
    port: 8080,
    pathOverride: { path: '/hook' },
    queryOverride: { queryParams: 'a=b' },
  },
  headerOverrides: [{ header: { key: 'X-Own', value: 'queue' } }],
  oidcToken: { serviceAccountEmail: 'a@b.c', audience: 'hook' },
};

let fixtures: readonly TasksFixture[];
beforeEach(async () => {
  fixtures = [await startTasks({ kind: 'memory' }, APP), await startTasks({ kind: 'memory' }, APP)];
});
afterEach(async () => {
  for (const fixture of fixtures) await fixture.stop();
});

const grpcOptions = (host: string) => ({
  apiEndpoint: host.split(':')[0] ?? '',
  port: Number(host.split(':')[1]),
  sslCreds: credentials.createInsecure(),
  projectId: 'demo-cairn',
});

const COMMON: readonly Step[] = [
  ['getQueue', { name: QUEUE }],
  ['pauseQueue', { name: QUEUE }],
  ['listQueues', { parent: LOCATION }],
  ['createTask', { parent: QUEUE, task: { pullMessage: { tag: 't' } } }],
  [
    'createTask',
    { parent: QUEUE, task: { name: task, scheduleTime: later, httpRequest: { url: 'http://x' } } },
  ],
  ['getTask', { name: task, responseView: 'FULL' }],
  ['listTasks', { parent: QUEUE }],
  ['runTask', { name: task }],
  ['updateQueue', { queue: { name: QUEUE, httpTarget }, updateMask: { paths: ['http_target'] } }],
  ['updateQueue', { queue: { name: QUEUE }, updateMask: { paths: ['nonsense'] } }],
  [
    'updateQueue',
    {
      queue: { name: QUEUE, httpTarget: { httpMethod: 'PUT' } },
      updateMask: { paths: ['http_target.uri_override'] },
    },
  ],
  ['updateQueue', { queue: { name: QUEUE, taskTtl: { seconds: 1 } }, updateMask: { paths: ['task_ttl'] } }],
  ['getQueue', { name: QUEUE, readMask: { paths: ['name', 'stats'] } }],
  ['getIamPolicy', { resource: QUEUE }],
  ['resumeQueue', { name: QUEUE }],
  ['purgeQueue', { name: QUEUE }],
  ['deleteQueue', { name: QUEUE }],
];

const COMMON_REFUSALS = [
  ['createTask', UNIMPLEMENTED, expect.anything()],
  ['updateQueue', INVALID_ARGUMENT, expect.objectContaining({ updateMask: { paths: ['nonsense'] } })],
  ['updateQueue', INVALID_ARGUMENT, expect.objectContaining({ updateMask: { paths: ['task_ttl'] } })],
  ['getQueue', UNIMPLEMENTED, expect.objectContaining({ readMask: expect.anything() })],
];

const V2BETA3: readonly Step[] = [
  ['createQueue', { parent: LOCATION, queue: { name: QUEUE, type: 'PULL' } }],
  [
    'createQueue',
    {
      parent: LOCATION,
      queue: {
        name: QUEUE,
        httpTarget,
        appEngineHttpQueue: { appEngineRoutingOverride: { service: 's' } },
        tombstoneTtl: { seconds: 7200 },
      },
    },
  ],
  [
    'updateQueue',
    {
      queue: { name: QUEUE, appEngineHttpQueue: { appEngineRoutingOverride: { version: 'v' } } },
      updateMask: { paths: ['app_engine_http_queue.app_engine_routing_override.version'] },
    },
  ],
  [
    'createTask',
    { parent: QUEUE, task: { appEngineHttpRequest: { relativeUri: '/r' } }, responseView: 'FULL' },
  ],
  ['createTask', { parent: QUEUE, task: { retryConfig: {}, httpRequest: { url: 'http://x' } } }],
  ...COMMON,
];

const V2BETA2: readonly Step[] = [
  ['createQueue', { parent: LOCATION, queue: { name: QUEUE, pullTarget: {} } }],
  [
    'createQueue',
    {
      parent: LOCATION,
      queue: {
        name: QUEUE,
        appEngineHttpTarget: { appEngineRoutingOverride: { service: 's' } },
        rateLimits: { maxTasksDispatchedPerSecond: 3, maxConcurrentTasks: 2 },
        retryConfig: { unlimitedAttempts: true },
      },
    },
  ],
  [
    'updateQueue',
    {
      queue: { name: QUEUE, rateLimits: { maxTasksDispatchedPerSecond: 4 }, retryConfig: { maxAttempts: 9 } },
      updateMask: { paths: ['rate_limits.max_tasks_dispatched_per_second', 'retry_config.max_attempts'] },
    },
  ],
  [
    'createTask',
    {
      parent: QUEUE,
      task: { appEngineHttpRequest: { relativeUrl: '/r', payload: Buffer.from('p') } },
      responseView: 'FULL',
    },
  ],
  ['leaseTasks', { parent: QUEUE }],
  ...COMMON,
];

describe.each([
  {
    version: 'v2beta3',
    steps: V2BETA3,
    Client: v2beta3.CloudTasksClient,
    refusals: [
      ['createQueue', UNIMPLEMENTED, expect.anything()],
      ['createTask', UNIMPLEMENTED, expect.anything()],
    ],
    updated: { appEngineHttpQueue: { appEngineRoutingOverride: { host: HOST, service: 's', version: 'v' } } },
  },
  {
    version: 'v2beta2',
    steps: V2BETA2,
    Client: v2beta2.CloudTasksClient,
    refusals: [
      ['createQueue', UNIMPLEMENTED, expect.anything()],
      ['leaseTasks', UNIMPLEMENTED, expect.anything()],
    ],
    updated: {
      rateLimits: { maxTasksDispatchedPerSecond: 4, maxConcurrentTasks: 2, maxBurstSize: 10 },
      retryConfig: expect.objectContaining({ maxAttempts: 9 }),
    },
  },
])('$version', ({ steps, Client, refusals, updated }) => {
  test('takes and tells what it is asked for, over REST as over gRPC', async () => {
    const [grpc, rest] = [
      new Client(grpcOptions(fixtures[0]?.server.host ?? '')),
      new Client(restOptions(fixtures[1]?.server.host ?? '')),
    ];
    try {
      const expected = await outcomesOf(steps, [grpc]);
      expect(await outcomesOf(steps, [rest])).toEqual(expected);
      const refused = steps.flatMap(([call, request], i) => {
        const { refused: code } = (expected[i] as [string, { refused?: number } | undefined])[1] ?? {};
        return code === undefined ? [] : [[call, code, request]];
      });
      expect(refused).toEqual([...refusals, ...COMMON_REFUSALS]);
      expect(expected).toContainEqual(['updateQueue', expect.objectContaining(updated)]);
    } finally {
      await grpc.close();
      await rest.close();
    }
  });
});

test('v2 neither shows nor takes away what only a beta version has', async () => {
  const [fixture] = fixtures;
  const beta = new v2beta3.CloudTasksClient(grpcOptions(fixture?.server.host ?? ''));
  await beta.createQueue({ parent: LOCATION, queue: { name: QUEUE, httpTarget } as object });
  await fixture?.client.updateQueue({ queue: { name: QUEUE, retryConfig: { maxAttempts: 2 } } });
  const [queue] = await beta.getQueue({ name: QUEUE });
  expect(queue).toMatchObject({
    httpTarget: { uriOverride: { host: '127.0.0.1' } },
    retryConfig: { maxAttempts: 2 },
  });
  await expect(beta.batchCreateTasks({ parent: QUEUE })).rejects.toMatchObject({
    code: UNIMPLEMENTED,
    details: expect.stringMatching(/one by one/),
  });
  await beta.deleteQueue({ name: QUEUE });
  await beta.close();
});

describe('BufferTask', () => {
  const buffer = (path: string, init?: RequestInit) =>
    fetch(`http://${fixtures[0]?.server.host}/v2beta3/${path}:buffer`, init);

  test('a request becomes a task for the target of the queue', async () => {
    const [fixture] = fixtures;
    const beta = new v2beta3.CloudTasksClient(grpcOptions(fixture?.server.host ?? ''));
    await beta.createQueue({ parent: LOCATION, queue: { name: QUEUE, httpTarget } as object });
    const before = fixture?.requests.length ?? 0;
    const headers = { 'x-custom': '1', 'x-own': 'task', authorization: 'Bearer of-the-api' };
    const post = await buffer(`${QUEUE}/tasks`, { method: 'POST', body: "{'not': json}", headers });
    expect(await post.json()).toMatchObject({ task: { name: expect.stringContaining(`${QUEUE}/tasks/`) } });
    expect((await buffer(`${QUEUE}/tasks/mine`)).status).toBe(200);
    expect((await buffer(`${QUEUE}/tasks/mine`)).status).toBe(409);
    await fixture?.dispatched(before + 2);
    const [first, second] = fixture?.requests.slice(before) ?? [];
    expect(first).toMatchObject({ url: 'http://127.0.0.1:8080/hook?a=b', method: 'POST' });
    expect(Buffer.from(first?.body ?? []).toString()).toBe("{'not': json}");
    expect(first?.headers).toMatchObject({ 'x-custom': '1', 'X-Own': 'queue' });
    expect(first?.headers['x-own']).toBeUndefined();
    expect(first?.headers.Authorization).not.toContain('of-the-api');
    expect(second?.method).toBe('GET');
    await beta.deleteQueue({ name: QUEUE });
    await beta.close();
  });

  test('a header that was sent several times has all its values', async () => {
    const [fixture] = fixtures;
    const beta = new v2beta3.CloudTasksClient(grpcOptions(fixture?.server.host ?? ''));
    await beta.createQueue({ parent: LOCATION, queue: { name: QUEUE, httpTarget } as object });
    const before = fixture?.requests.length ?? 0;
    const headers = [
      'Host',
      fixture?.server.host ?? '',
      'X-Many',
      '1',
      'x-many',
      '2',
      'X-Many',
      '3',
      'Cookie',
      'a=1',
      'cookie',
      'b=2',
    ];
    const url = `http://${fixture?.server.host}/v2beta3/${QUEUE}/tasks:buffer`;
    const call = request(url, { method: 'POST', headers });
    call.end('x');
    const [response] = await once(call, 'response');
    response.resume();
    expect(response.statusCode).toBe(200);
    await fixture?.dispatched(before + 1);
    expect(fixture?.requests[before]?.headers).toMatchObject({ 'X-Many': '1, 2, 3', Cookie: 'a=1; b=2' });
    await beta.deleteQueue({ name: QUEUE });
    await beta.close();
  });

  test('a queue without a target refuses it and says how to set one', async () => {
    await fixtures[0]?.client.createQueue({ parent: LOCATION, queue: { name: QUEUE } });
    const refused = await buffer(`${QUEUE}/tasks`, { method: 'POST', body: 'x' });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('http_target')]);
    expect((await buffer(`${LOCATION}/queues/none/tasks`)).status).toBe(404);
    await fixtures[0]?.client.deleteQueue({ name: QUEUE });
  });
});

test('locations are told one by one and in pages', async () => {
  const client = fixtures[0]?.client;
  const told: unknown = await client?.getLocation({ name: LOCATION });
  expect(told).toEqual(expect.arrayContaining([expect.objectContaining({ locationId: 'us-central1' })]));
  const names: unknown[] = [];
  const pages = client?.listLocationsAsync({ name: 'projects/demo-cairn', pageSize: 7 }) ?? [];
  for await (const { name } of pages) names.push(name);
  expect(names).toContain(LOCATION);
  expect(new Set(names).size).toBe(names.length);
});

describe('the URL of a queue', () => {
  const part = fc.stringMatching(/^[a-z0-9]{1,6}$/);
  const override = fc.record<UriOverride>(
    {
      scheme: fc.constantFrom('http' as const, 'https' as const),
      host: part,
      port: fc.integer({ min: 0, max: 65_535 }),
      path: fc.oneof(
        fc.constant(''),
        part.map((name) => `/${name}`),
      ),
      query: fc.oneof(
        fc.constant(''),
        part.map((name) => `${name}=1`),
      ),
      isFallback: fc.constant(false),
    },
    { requiredKeys: ['isFallback'] },
  );
  const url = fc
    .record({ host: part, port: fc.integer({ min: 1024, max: 9999 }), path: part, query: part })
    .map(({ host, port, path, query }) => `http://${host}:${port}/${path}?${query}`);

  test('replaces each part that it names and keeps the others', () => {
    fc.assert(
      fc.property(url, override, (text, change) => {
        const [before, after] = [new URL(text), new URL(overriddenUrl(text, change))];
        const scheme = change.scheme ?? 'http';
        expect(after.protocol).toBe(`${scheme}:`);
        expect(after.hostname).toBe(
          change.host === undefined ? before.hostname : new URL(`http://${change.host}`).hostname,
        );
        const port = change.port === undefined ? Number(before.port) : change.port;
        const isDefault = port === 0 || port === (scheme === 'http' ? 80 : 443);
        expect(after.port).toBe(isDefault ? '' : String(port));
        expect(after.pathname).toBe(change.path === undefined ? before.pathname : change.path || '/');
        expect(after.search).toBe(
          change.query === undefined ? before.search : change.query && `?${change.query}`,
        );
      }),
    );
  });

  test('as a fallback changes nothing of a whole URL', () => {
    fc.assert(
      fc.property(url, override, (text, change) => {
        expect(overriddenUrl(text, { ...change, isFallback: true })).toBe(new URL(text).href);
      }),
    );
  });
});
