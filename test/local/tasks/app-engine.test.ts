/** Tasks for an App Engine app, and access tokens of tasks for Google's APIs. */
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toAppEngine } from '../../../packages/local-tasks/src/dispatch/to-app-engine.ts';
import { refusal } from '../support.ts';
import { answered, LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

const AGENT = 'AppEngine-Google; (+http://code.google.com/appengine)';
const appEngineUrl = 'http://127.0.0.1:1/app/';
let tasks: TasksFixture;

beforeEach(async () => {
  tasks = await startTasks(undefined, { appEngineUrl });
  await tasks.client.createQueue({ parent: LOCATION, queue: { name: QUEUE } });
});
afterEach(() => tasks.stop());

const create = (task: object) => tasks.client.createTask({ parent: QUEUE, task });
const later = () => ({ seconds: tasks.clock.now() / 1000 + 60 });

describe('a task for App Engine', () => {
  test('is sent to the app with the headers of App Engine', async () => {
    tasks.answers.push(answered(404), answered(200));
    const body = Buffer.from('{}');
    const [made] = await create({ appEngineHttpRequest: { relativeUri: '/work?n=1', body } });
    await tasks.dispatched(1);
    tasks.clock.advance(60_000);
    await tasks.drained();
    expect(tasks.requests.map(({ url, method }) => [url, method])).toEqual([
      ['http://127.0.0.1:1/app/work?n=1', 'POST'],
      ['http://127.0.0.1:1/app/work?n=1', 'POST'],
    ]);
    const { 'X-AppEngine-TaskETA': eta, ...headers } = tasks.requests[1]?.headers ?? {};
    expect(Number(eta)).toBeGreaterThan(0);
    expect(headers).toEqual({
      'User-Agent': AGENT,
      'Content-Type': 'application/octet-stream',
      'X-AppEngine-QueueName': 'work',
      'X-AppEngine-TaskName': String(made.name).split('/').at(-1),
      'X-AppEngine-TaskRetryCount': '1',
      'X-AppEngine-TaskExecutionCount': '1',
      'X-AppEngine-TaskPreviousResponse': '404',
      'X-AppEngine-TaskRetryReason': 'App Error',
    });
  });

  test('is returned as it was made, with the headers and the host that are set for it', async () => {
    const body = Buffer.from('text');
    const appEngineHttpRequest = {
      httpMethod: 'PUT',
      relativeUri: '/a',
      headers: { 'user-agent': 'mine', 'content-type': 'text/plain' },
      body,
      appEngineRouting: { service: 's', version: 'v', instance: 'i' },
    };
    const [made] = await create({
      appEngineHttpRequest,
      scheduleTime: later(),
      dispatchDeadline: { seconds: 86_415 },
    });
    const [task] = await tasks.client.getTask({ name: String(made.name), responseView: 'FULL' });
    expect(made.appEngineHttpRequest?.body).toHaveLength(0);
    expect(Buffer.from(task.appEngineHttpRequest?.body as Uint8Array)).toEqual(body);
    expect(task).toMatchObject({
      dispatchDeadline: { seconds: '86415' },
      appEngineHttpRequest: {
        httpMethod: 'PUT',
        relativeUri: '/a',
        headers: { 'user-agent': `mine ${AGENT}`, 'content-type': 'text/plain', 'Content-Length': '4' },
        appEngineRouting: { service: 's', version: 'v', instance: 'i', host: 'i.v.s.demo-cairn.appspot.com' },
      },
    });
  });

  test('has the user agent of App Engine after its own', async () => {
    const headers = { 'user-agent': 'a', 'User-Agent': 'b', 'USER-AGENT': 'c' };
    const [made] = await create({ appEngineHttpRequest: { headers } });
    await tasks.drained();
    const told = [made.appEngineHttpRequest?.headers, tasks.requests[0]?.headers].map((all) =>
      Object.entries(all ?? {}).flatMap(([name, value]) =>
        /^user-agent$/i.test(name) ? [value.split(' ')] : [],
      ),
    );
    const agents = ['a', 'b', 'c', ...AGENT.split(' ')].sort();
    expect(told.map((values) => values.map((words) => words.sort()))).toEqual([[agents], [agents]]);
  });

  test('stays within the app, whatever its path', async () => {
    const segment = fc.constantFrom('..', '.', '%2e%2E', '.%2e', '', 'a', 'b:1', 'c@d', '\\..\\..');
    const paths = fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join('/')}`);
    await fc.assert(
      fc.asyncProperty(paths, fc.constantFrom('', '?n=1', '?/../..', '#f'), async (path, rest) => {
        const urls: string[] = [];
        const send = toAppEngine(async ({ url }) => {
          urls.push(url);
          return answered(200);
        }, 'http://127.0.0.1:1/the/app');
        const request = { method: 'POST', headers: {}, body: new Uint8Array(), signal: AbortSignal.abort() };
        await send({ ...request, url: `${path}${rest}` });
        const { host, pathname, search } = new URL(urls[0] ?? '');
        expect([host, search]).toEqual(['127.0.0.1:1', rest.startsWith('?') ? rest : '']);
        expect(pathname).toMatch(/^\/the\/app\//);
      }),
    );
  });

  test('goes to the root of the default service unless it says where', async () => {
    const [made] = await create({ appEngineHttpRequest: {} });
    expect(made.appEngineHttpRequest).toMatchObject({
      relativeUri: '/',
      headers: { 'User-Agent': AGENT },
      appEngineRouting: { service: '', host: 'demo-cairn.appspot.com' },
    });
    await tasks.drained();
    expect(tasks.requests[0]?.url).toBe('http://127.0.0.1:1/app/');
  });

  test.each([
    ['a URI without a slash', { relativeUri: 'a' }, /must begin with '\/'/],
    ['a URI with a space', { relativeUri: '/a b' }, /must begin with '\/'/],
    ['a URI with a control character', { relativeUri: '/a\u0000b' }, /must begin with '\/'/],
    ['a URI with a deleted character', { relativeUri: '/a\u007f' }, /must begin with '\/'/],
    ['a URI that is too long', { relativeUri: `/${'a'.repeat(2083)}` }, /longer than 2083/],
    ['a body for PATCH', { httpMethod: 'PATCH', body: Buffer.from('x') }, /only allowed for POST and PUT/],
    ['a task over 100 KiB', { body: Buffer.alloc(100 * 1024) }, /too large/],
    ['a header with a line break', { headers: { a: 'b\nc: d' } }, /not a valid header/],
  ])('is refused with %s', async (_what, appEngineHttpRequest, message) => {
    expect(await refusal(create({ appEngineHttpRequest }))).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringMatching(message),
    });
  });

  test('cannot have a deadline beyond a day and 15 s', async () => {
    const task = { appEngineHttpRequest: {}, dispatchDeadline: { seconds: 86_416 } };
    expect(await refusal(create(task))).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining('[15s, 24h15s]'),
    });
  });

  test('fails its attempts on a server that has no app any more', async () => {
    const request = { url: '/a', method: 'POST', headers: {}, body: new Uint8Array() };
    const send = toAppEngine(async () => answered(200), undefined);
    expect(await send({ ...request, signal: AbortSignal.abort() })).toMatchObject({ kind: 'unreachable' });
  });
});

test('the routing of a queue is kept, updated and removed by masks', async () => {
  const update = async (appEngineRoutingOverride: object | undefined, path: string) => {
    const queue = { name: QUEUE, ...(appEngineRoutingOverride && { appEngineRoutingOverride }) };
    const [updated] = await tasks.client.updateQueue({ queue, updateMask: { paths: [path] } });
    return updated.appEngineRoutingOverride;
  };
  const host = 'v.s.demo-cairn.appspot.com';
  expect(await update({ service: 's' }, 'app_engine_routing_override')).toMatchObject({
    service: 's',
    version: '',
  });
  expect(await update({ version: 'v' }, 'app_engine_routing_override.version')).toMatchObject({
    service: 's',
    version: 'v',
    host,
  });
  expect((await tasks.client.getQueue({ name: QUEUE }))[0].appEngineRoutingOverride).toMatchObject({ host });
  expect(await update(undefined, 'app_engine_routing_override')).toBeNull();
});

test('an access token is kept with its scope and sent as a bearer token', async () => {
  const url = 'http://127.0.0.1:1/api';
  const oauthToken = { serviceAccountEmail: 'a@b.c' };
  const scope = 'https://www.googleapis.com/auth/cloud-platform';
  const [made] = await create({ httpRequest: { url, oauthToken, headers: { authorization: 'Basic x' } } });
  expect(made.httpRequest?.oauthToken).toEqual({ ...oauthToken, scope });
  await tasks.drained();
  const names = Object.keys(tasks.requests[0]?.headers ?? {}).filter((name) => /authorization/i.test(name));
  expect(names).toEqual(['Authorization']);
  expect(tasks.requests[0]?.headers.Authorization).toMatch(/^Bearer local\.[\w-]+$/);
});
