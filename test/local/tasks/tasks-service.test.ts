import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { refusal } from '../support.ts';
import { LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

const HOUR_S = 3600;
let tasks: TasksFixture;

beforeEach(async () => {
  tasks = await startTasks();
  await tasks.client.createQueue({ parent: LOCATION, queue: { name: QUEUE } });
});
afterEach(() => tasks.stop());

const url = 'http://127.0.0.1:1/target';
const create = (task: object) => tasks.client.createTask({ parent: QUEUE, task });
const nameOf = (task: { name?: string | null }) => ({ name: String(task.name) });
const inSeconds = (seconds: number) => ({ seconds: Math.floor(tasks.clock.now() / 1000) + seconds });

describe('names', () => {
  test('a named task exists once while it waits', async () => {
    const name = `${QUEUE}/tasks/only-once`;
    await create({ name, httpRequest: { url }, scheduleTime: inSeconds(60) });
    expect(await refusal(create({ name, httpRequest: { url } }))).toMatchObject({
      code: status.ALREADY_EXISTS,
      details: 'Requested entity already exists',
    });
  });

  test('the name of a task that ended stays taken for an hour, then is free again', async () => {
    const name = `${QUEUE}/tasks/again`;
    await create({ name, httpRequest: { url } });
    await tasks.drained();
    const { code, details } = await refusal(create({ name, httpRequest: { url } }));
    expect(code).toBe(status.ALREADY_EXISTS);
    expect(details).toMatch(/existed too recently/);
    tasks.clock.advance(HOUR_S * 1000 - 1);
    await refusal(create({ name, httpRequest: { url } }));
    tasks.clock.advance(1);
    await create({ name, httpRequest: { url } });
    await tasks.drained();
    expect(tasks.requests).toHaveLength(2);
  });

  test('the name of a deleted task stays taken too', async () => {
    const name = `${QUEUE}/tasks/deleted`;
    await create({ name, httpRequest: { url }, scheduleTime: inSeconds(60) });
    await tasks.client.deleteTask({ name });
    expect(await refusal(create({ name, httpRequest: { url } }))).toMatchObject({
      code: status.ALREADY_EXISTS,
    });
    expect(await refusal(tasks.client.getTask({ name }))).toMatchObject({ code: status.NOT_FOUND });
    tasks.clock.advance(61_000);
    expect(tasks.requests).toHaveLength(0);
  });

  test('unnamed tasks never collide and get numeric ids', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => create({ httpRequest: { url } })));
    const ids = made.map(([task]) => String(task.name).replace(`${QUEUE}/tasks/`, ''));
    expect(new Set(ids).size).toBe(20);
    expect(ids.every((id) => /^\d+$/.test(id))).toBe(true);
  });
});

describe('what is refused', () => {
  test.each([
    ['no target', {}, /payload_type/],
    ['a relative URL', { httpRequest: { url: '/x' } }, /must start with 'http/],
    ['a URL of another scheme', { httpRequest: { url: 'ftp://x/' } }, /must start with 'http/],
    ['a URL that is too long', { httpRequest: { url: `http://x/${'y'.repeat(2100)}` } }, /longer than 2083/],
    [
      'a body for GET',
      { httpRequest: { url, httpMethod: 'GET', body: Buffer.from('x') } },
      /only allowed for POST/,
    ],
    [
      'a URL that is too long once encoded',
      { httpRequest: { url: `http://x/${'ü'.repeat(400)}` } },
      /encoding/,
    ],
    [
      'a task over 1 MiB by its headers',
      { httpRequest: { url, headers: { a: 'b'.repeat(2000) }, body: Buffer.alloc(1024 * 1024 - 1000) } },
      /too large/,
    ],
    ['a body over 1 MiB', { httpRequest: { url, body: Buffer.alloc(1024 * 1024 + 1) } }, /too large/],
    ['a header with a line break', { httpRequest: { url, headers: { a: 'b\nc: d' } } }, /not a valid header/],
    ['a header HTTP cannot carry', { httpRequest: { url, headers: { a: '→' } } }, /not a valid header/],
    [
      'a token without an account',
      { httpRequest: { url, oidcToken: {} } },
      /oidc_token.service_account_email/,
    ],
    [
      'an access token without an account',
      { httpRequest: { url, oauthToken: {} } },
      /oauth_token.service_account_email/,
    ],
    [
      'a schedule 31 days ahead',
      { httpRequest: { url }, scheduleTime: { seconds: 1767225600 + 31 * 86400 } },
      /no more than 720h/,
    ],
    [
      'a deadline under 15 s',
      { httpRequest: { url }, dispatchDeadline: { seconds: 14 } },
      /between \[15s, 30m\]/,
    ],
    [
      'a deadline over 30 min',
      { httpRequest: { url }, dispatchDeadline: { seconds: 1801 } },
      /between \[15s, 30m\]/,
    ],
    [
      'a deadline of mixed signs',
      { httpRequest: { url }, dispatchDeadline: { seconds: 60, nanos: -1 } },
      /valid/,
    ],
    [
      'a schedule before its second',
      { httpRequest: { url }, scheduleTime: { seconds: 5, nanos: -1 } },
      /valid/,
    ],
    ['a schedule before the year 1', { httpRequest: { url }, scheduleTime: { seconds: -1e11 } }, /valid/],
    [
      'a bad task id',
      { name: `${QUEUE}/tasks/a b`, httpRequest: { url } },
      /^Task ID "a b" can contain only letters/,
    ],
    [
      'a name in another queue',
      { name: `${LOCATION}/queues/o/tasks/t`, httpRequest: { url } },
      /must be the same as/,
    ],
  ])('%s is an invalid argument', async (_what, task, message) => {
    const { code, details } = await refusal(create(task));
    expect(details).toMatch(message);
    expect(code).toBe(status.INVALID_ARGUMENT);
    expect(tasks.requests).toHaveLength(0);
  });

  test('a task for a queue that does not exist is not found: queues are not created by use', async () => {
    const parent = `${LOCATION}/queues/missing`;
    const { code, details } = await refusal(
      tasks.client.createTask({ parent, task: { httpRequest: { url } } }),
    );
    expect(code).toBe(status.NOT_FOUND);
    expect(details).toMatch(/^Queue does not exist/);
  });

  test('a task for App Engine fails its precondition, and the answer says how to name the app', async () => {
    expect(await refusal(create({ appEngineHttpRequest: { relativeUri: '/' } }))).toMatchObject({
      code: status.FAILED_PRECONDITION,
      details: expect.stringContaining('local-tasks --app-engine URL'),
    });
  });
});

describe('views and pages', () => {
  test('the basic view leaves the body out, the full view has it', async () => {
    const body = Buffer.from('payload');
    const oidcToken = { serviceAccountEmail: 'a@b.example', audience: 'https://aud' };
    const scheduleTime = inSeconds(60);
    const [made] = await create({ httpRequest: { url, body, oidcToken }, scheduleTime });
    expect(made.httpRequest?.body).toHaveLength(0);
    expect(made).toMatchObject({ view: 'BASIC', dispatchCount: 0, httpRequest: { url, oidcToken } });
    const [full] = await tasks.client.getTask({ ...nameOf(made), responseView: 'FULL' });
    expect(full).toMatchObject({ view: 'FULL', httpRequest: { url, httpMethod: 'POST', oidcToken } });
    expect(Buffer.from(full.httpRequest?.body as Uint8Array).toString()).toBe('payload');
    expect(Number(full.scheduleTime?.seconds)).toBe(scheduleTime.seconds);
    expect(Number(full.dispatchDeadline?.seconds)).toBe(600);
  });

  test('pages of tasks are complete and disjoint, whatever their size', async () => {
    const names = [];
    for (let i = 0; i < 7; i++) {
      const [task] = await create({ httpRequest: { url }, scheduleTime: inSeconds(100 + i) });
      names.push(task.name);
    }
    for (const pageSize of [1, 3, 7, 100]) {
      const [listed] = await tasks.client.listTasks({ parent: QUEUE, pageSize }, { autoPaginate: true });
      expect(listed.map((task) => task.name)).toEqual(names);
    }
  });

  test('a page token is refused with another filter', async () => {
    await tasks.client.createQueue({ parent: LOCATION, queue: { name: `${LOCATION}/queues/other` } });
    const list = (more: object) =>
      tasks.client.listQueues({ parent: LOCATION, pageSize: 1, ...more }, { autoPaginate: false });
    const [, , page] = await list({ filter: 'state: RUNNING' });
    const pageToken = String(page?.nextPageToken);
    expect((await list({ filter: 'state: RUNNING', pageToken }))[0]).toHaveLength(1);
    expect(await refusal(list({ pageToken }))).toMatchObject({ code: status.INVALID_ARGUMENT });
  });

  test('a page token of another list is refused', async () => {
    const other = `${LOCATION}/queues/other`;
    await tasks.client.createQueue({ parent: LOCATION, queue: { name: other } });
    for (let i = 0; i < 2; i++) await create({ httpRequest: { url }, scheduleTime: inSeconds(60) });
    const request = { parent: QUEUE, pageSize: 1 };
    const [, , page] = await tasks.client.listTasks(request, { autoPaginate: false });
    const call = tasks.client.listTasks(
      { parent: other, pageToken: String(page?.nextPageToken) },
      { autoPaginate: false },
    );
    expect(await refusal(call)).toMatchObject({ code: status.INVALID_ARGUMENT });
  });
});
