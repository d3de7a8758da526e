/** The link between the cloud process and a worker. A function that takes whole requests gives the same answers by frames and by HTTP. */
import { once } from 'node:events';
import { Agent, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { onRequest } from 'firebase-functions/v2/https';
import { onTaskDispatched } from 'firebase-functions/v2/tasks';
import type { FunctionHandler } from '../../../../packages/local/src/host/function-spec.ts';
import { functionsServer } from '../../../../packages/local/src/host/functions-server.ts';
import { openLink } from '../../../../packages/local/src/host/link/open-link.ts';
import type { InFlightRequest, ResponseReceiver } from '../../../../packages/local/src/host/link/request.ts';
import { sendByHttp } from '../../../../packages/local/src/host/link/send-by-http.ts';
import { sendByLink } from '../../../../packages/local/src/host/link/send-by-link.ts';
import { ServedLink } from '../../../../packages/local/src/host/link/serve-link.ts';
import { WholeRequest } from '../../../../packages/local/src/host/link/whole-request.ts';
import type { WorkerLease } from '../../../../packages/local/src/host/workers/worker-lease.ts';
import { MAX_FRAME_BYTES } from '../../../../packages/local-kit/src/wire/frames.ts';
import { until } from '../../support.ts';
import { clock } from './machine-clock.ts';

/** More than a frame may have. */
const LARGE_BYTES = MAX_FRAME_BYTES + 1;
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const TASK = {
  'Content-Type': 'application/json',
  'X-CloudTasks-QueueName': 'drive',
  'X-CloudTasks-TaskName': '17',
  'X-CloudTasks-TaskRetryCount': '3',
  'X-CloudTasks-TaskPreviousResponse': '409',
  Authorization: `Bearer h.${Buffer.from(JSON.stringify({ email: 'a@b.c' })).toString('base64url')}.s`,
};

/** Promise that the functions below wait for, and their record of requests. */
let hold: PromiseWithResolvers<void>;
let seen: unknown[];
let written: boolean[];

const functions = new Map<string, FunctionHandler>(
  Object.entries({
    echo: onRequest((request, response) => {
      const { method, url, headers, rawBody } = request;
      const body = Buffer.from(JSON.stringify({ method, url, headers, raw: rawBody?.toString('base64') }));
      response.writeHead(201, { 'content-type': 'application/json', 'x-more': 'a' });
      response.end(body);
    }),
    pieces: onRequest(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of ['one', 'two', 'three']) {
        response.write(Buffer.from(piece));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    }),
    corked: onRequest((_request, response) => {
      response.end(Buffer.from(`${peer.writableCorked} ${peer.writableLength}`));
    }),
    nothing: onRequest((_request, response) => void response.writeHead(204).end()),
    empty: onRequest((_request, response) => void response.end()),
    throws: onRequest(() => {
      throw new Error('on purpose');
    }),
    header: onRequest((request, response) => {
      if (request.method === 'POST') response.writeHead(200, { 'x-name': 'a\nb' });
      else response.setHeader('x-name', '\u2192');
      response.end(Buffer.from('sent'));
    }),
    large: onRequest((_request, response) => void response.end(Buffer.alloc(LARGE_BYTES, 'a'))),
    cut: onRequest((_request, response) => {
      response.writeHead(200);
      response.write(Buffer.from('half'));
      setImmediate(() => response.destroy());
    }),
    held: onRequest(async (_request, response) => {
      response.once('close', () => seen.push('closed'));
      seen.push('held');
      await hold.promise;
      response.end(Buffer.from('held'));
    }),
    flood: onRequest(async (_request, response) => {
      response.writeHead(200);
      written.push(response.write(Buffer.from('first')));
      await hold.promise;
      written.push(response.write(Buffer.from('second')));
      response.once('drain', () => response.end(Buffer.from('third')));
    }),
    task: onTaskDispatched(async (request) => {
      seen.push(request);
      if ((request.data as { fails?: boolean }).fails) throw new Error('on purpose');
    }),
  }) as unknown as [string, FunctionHandler][],
);

let server: Server;
let served: ServedLink;
let link: FrameClient;
let agent: Agent;
let given: string[];
/** The worker's end of the link. */
let peer: Socket;

// Silences the log of firebase-functions about intended refusals and exceptions.
for (const level of ['error', 'warn'] as const) jest.spyOn(console, level).mockImplementation(() => {});

beforeEach(async () => {
  clock.stop();
  hold = Promise.withResolvers();
  seen = [];
  written = [];
  given = [];
  server = functionsServer(functions, () => NOW);
  served = new ServedLink(server, { handlers: functions, tasks: new Set(), now: () => NOW });
  server.on('upgrade', (_request, socket: Socket) => {
    peer = socket;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  agent = new Agent({ keepAlive: true });
  link = (await openLink((server.address() as AddressInfo).port)) as FrameClient;
});
afterEach(() => {
  link.close();
  agent.destroy();
  server.close();
  server.closeAllConnections();
});

interface Answer {
  status?: number;
  headers?: OutgoingHttpHeaders;
  body: string;
  failed?: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

function leaseOf(): WorkerLease {
  const { port } = server.address() as AddressInfo;
  return {
    port,
    link,
    isMovable: true,
    isShared: false,
    release: () => given.push('released'),
    broken: () => given.push('broken'),
    late: () => given.push('late'),
  };
}

type Way = 'link' | 'http';

function begin(way: Way, name: string, asked: Asked = {}, takes = () => true) {
  const { method = 'GET', headers = {}, body = '' } = asked;
  const answer: Answer = { body: '' };
  const over = Promise.withResolvers<Answer>();
  const receiver: ResponseReceiver = {
    onHead(status, all) {
      answer.status = status;
      const { connection, 'keep-alive': _, 'transfer-encoding': __, ...kept } = all;
      answer.headers = kept;
    },
    onData(chunk) {
      answer.body += chunk.toString();
      return takes();
    },
    onEnd: () => over.resolve(answer),
    onFailure: (failed) => over.resolve({ ...answer, failed }),
  };
  const bytes = Buffer.from(body);
  const line = { name, method, path: '/a?b=c', headers: { ...headers, 'content-length': bytes.length } };
  const sending = { lease: leaseOf(), line, body: bytes, receiver };
  const sent: Promise<InFlightRequest> =
    way === 'link'
      ? Promise.resolve(
          sendByLink({
            ...sending,
            link,
            isMovable: true,
            repeatAfterMs: undefined,
            notTaken: (body) => over.resolve({ body }),
          }),
        )
      : (sendByHttp(agent, sending) as Promise<InFlightRequest>);
  return { sent, over: over.promise, answer };
}

const ask = (way: Way, name: string, asked?: Asked) => begin(way, name, asked).over;

describe('a function receives and answers frames as it does HTTP', () => {
  test.each<[string, string, Asked]>([
    ['a GET', 'echo', { headers: { 'X-Mine': 'kept' } }],
    [
      'a POST of JSON',
      'echo',
      { method: 'POST', headers: { 'content-type': 'text/json' }, body: '{"a": 1}' },
    ],
    ['a DELETE with a body', 'echo', { method: 'DELETE', headers: { 'content-type': 'x/y' }, body: 'ä\0' }],
    ['a status without a body', 'nothing', {}],
    ['an answer to HEAD, whose length is not known', 'empty', { method: 'HEAD' }],
    ['an uncaught exception', 'throws', {}],
    ['a header that HTTP cannot carry', 'header', {}],
    ['a head that HTTP cannot carry', 'header', { method: 'POST' }],
  ])('%s', async (_what, name, asked) => {
    const [byLink, byHttp] = [await ask('link', name, asked), await ask('http', name, asked)];
    const shown = (answer: Answer) => {
      const headers = { ...answer.headers };
      // Set by Express only.
      delete headers.etag;
      if (name !== 'echo') return { ...answer, headers };
      const { headers: got, ...rest } = JSON.parse(answer.body) as { headers: OutgoingHttpHeaders };
      // Headers of the HTTP connection.
      const { host, connection, ...kept } = got;
      return { ...answer, headers: { ...headers, 'content-length': undefined }, body: { ...rest, kept } };
    };
    expect(shown(byLink)).toEqual(shown(byHttp));
    expect(byLink.headers?.date).toBe(new Date(NOW).toUTCString());
  });

  test.each<[string, Asked, number]>([
    ['is carried out', { headers: TASK, body: '{"data":{"runId":"r"}}' }, 204],
    ['fails', { headers: TASK, body: '{"data":{"fails":true}}' }, 500],
    ['has no data', { headers: TASK, body: '{"other":1}' }, 400],
    ['has no JSON', { headers: TASK, body: '{"data"' }, 400],
    ['has a number for JSON', { headers: TASK, body: '7' }, 400],
    ['has no body', { headers: TASK }, 400],
    ['has another type', { headers: { ...TASK, 'Content-Type': 'text/plain' }, body: '{"data":{}}' }, 400],
    ['has no token', { headers: { ...TASK, Authorization: '' }, body: '{"data":{}}' }, 401],
  ])('a task that %s', async (_what, asked, status) => {
    const byLink = await ask('link', 'task', { method: 'POST', ...asked });
    const byHttp = await ask('http', 'task', { method: 'POST', ...asked });
    expect(byLink.status).toBe(status);
    expect([byLink.status, byLink.body]).toEqual([byHttp.status, byHttp.body]);
    const [first, second] = seen as { headers?: OutgoingHttpHeaders }[];
    const { connection, host, ...ofHttp } = second?.headers ?? {};
    expect(first && { ...first, headers: first.headers }).toEqual(second && { ...second, headers: ofHttp });
  });
});

describe('an answer by frames', () => {
  test('is streamed as the function writes it', async () => {
    const { status, body, failed } = await ask('link', 'pieces');
    expect({ status, body, failed }).toEqual({ status: 200, body: 'onetwothree', failed: undefined });
    expect(given).toEqual(['released']);
  });

  test('may be larger than a frame', async () => {
    const { body, failed } = await ask('link', 'large');
    expect([body.length, failed]).toEqual([LARGE_BYTES, undefined]);
  });

  test('that its receiver cannot process fails alone', async () => {
    const other = begin('link', 'held');
    const { over } = begin('link', 'pieces', {}, () => {
      throw new Error('on purpose');
    });
    expect((await over).failed).toContain('on purpose');
    hold.resolve();
    expect(await other.over).toMatchObject({ body: 'held' });
  });

  test('cut by the function is reported as incomplete, and the worker stays trusted', async () => {
    expect(await ask('link', 'cut')).toMatchObject({ status: 200, body: 'half', failed: expect.any(String) });
    expect(given).toEqual(['released']);
  });

  test('waits at the function while its receiver is full', async () => {
    const { over, answer, sent } = begin('link', 'flood', {}, () => false);
    await until(() => answer.body === 'first', 'the first piece');
    // Sent after the pause on the same connection.
    await ask('link', 'nothing');
    hold.resolve();
    await until(() => answer.body === 'firstsecond', 'what was written without asking');
    await ask('link', 'nothing');
    expect([written, answer.body]).toEqual([[true, false], 'firstsecond']);
    (await sent).resume();
    await until(() => answer.body === 'firstsecondthird', 'the rest');
    (await sent).resume();
    expect((await over).failed).toBeUndefined();
  });

  test('that nobody needs any more is cancelled at the function, and its slot is freed once', async () => {
    const { sent } = begin('link', 'held');
    await until(() => seen.length === 1, 'the function');
    (await sent).abort();
    (await sent).abort();
    await until(() => seen.includes('closed'), 'the function to hear of it');
    // Order matters: the worker still executes the request, so a worker that serves once must not end as if it had finished.
    expect(given).toEqual(['broken', 'released']);
    hold.resolve();
  });

  test('is lost with the connection, and the worker is checked', async () => {
    const { over } = begin('link', 'held');
    await until(() => seen.length === 1, 'the function');
    link.close();
    expect((await over).failed).toBeDefined();
    // Order matters: a worker that serves once and died must not be taken for one that ended normally.
    expect(given).toEqual(['broken', 'released']);
    expect(link.isOpen).toBe(false);
    await until(() => seen.includes('closed'), 'the function to hear of it');
    hold.resolve();
  });
});

test('a stopping worker answers its requests in flight, and accepts no more', async () => {
  const { over } = begin('link', 'held');
  await until(() => seen.length === 1, 'the function');
  const drained = served.drain(60_000);
  expect(await ask('link', 'echo')).toEqual({ body: 'ending' });
  expect(given).toEqual(['broken', 'released']);
  hold.resolve();
  expect(await over).toMatchObject({ status: 200, body: 'held' });
  await drained;
  await until(() => !link.isOpen, 'the end of the link');
  expect(await openLink((server.address() as AddressInfo).port)).toBeUndefined();
});

describe('a worker whose event loop is blocked', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    clock.stop();
  });
  afterEach(() => void jest.useRealTimers());

  test('leaves a request to another, and does not begin it afterwards', async () => {
    peer.pause();
    const { over } = begin('link', 'held');
    clock.advance(700);
    jest.advanceTimersByTime(700);
    expect([await over, given]).toEqual([{ body: 'late' }, ['late', 'released']]);
    peer.resume();
    await ask('link', 'nothing');
    expect(seen).toEqual([]);
  });

  test('refuses a late request that this process has not moved yet', async () => {
    peer.pause();
    const { over } = begin('link', 'held');
    clock.advance(401);
    peer.resume();
    expect([await over, given, seen]).toEqual([{ body: 'late' }, ['released'], []]);
  });

  test('gets a request that it takes in time, although a timer of this process fires early', async () => {
    peer.pause();
    const { over } = begin('link', 'held');
    clock.advance(399);
    jest.advanceTimersByTime(700);
    await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
    peer.resume();
    hold.resolve();
    expect(await over).toMatchObject({ body: 'held' });
  });

  test('keeps the requests that it has taken', async () => {
    const { over } = begin('link', 'held');
    // Sent after it on the same connection.
    await ask('link', 'nothing');
    expect(seen).toEqual(['held']);
    jest.advanceTimersByTime(60_000);
    hold.resolve();
    expect(await over).toMatchObject({ body: 'held' });
    expect(given).toEqual(['released', 'released']);
    // The worker confirms the request before it begins.
    expect(await ask('link', 'corked')).toMatchObject({ body: '0 0' });
  });
});

test('a function that does not support frames, or no longer exists, is called by HTTP', async () => {
  expect(await ask('link', 'missing')).toEqual({ body: 'unserved' });
  expect(given).toEqual(['released']);
});

test('the body of a request is parsed only if it is read', () => {
  const parse = jest.spyOn(JSON, 'parse');
  const headers = { 'Content-Type': 'application/json', 'content-length': 7 };
  const request = new WholeRequest({
    head: { name: 'a', method: 'POST', path: '/', headers },
    body: Buffer.from('{"a":1}'),
  });
  expect(request.rawBody?.toString()).toBe('{"a":1}');
  expect(parse).not.toHaveBeenCalled();
  expect([request.body, request.body]).toEqual([{ a: 1 }, { a: 1 }]);
  expect(parse).toHaveBeenCalledTimes(1);
  parse.mockRestore();
});

test('a server without a link has none', async () => {
  const plain = functionsServer(functions, () => NOW);
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  expect(await openLink((plain.address() as AddressInfo).port)).toBeUndefined();
  plain.close();
  plain.closeAllConnections();
});
