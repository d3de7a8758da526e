/** Requests to a worker by its link, until the worker has them. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import type { FrameClient, FrameListener } from '@cairn/local-kit/wire/frame-client';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { Forwarder } from '../../../packages/local/src/host/forward.ts';
import type { FunctionHandler, FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';
import { functionsServer } from '../../../packages/local/src/host/functions-server.ts';
import { decode, type RequestHead, TOO_LATE } from '../../../packages/local/src/host/link/messages.ts';
import { openLink } from '../../../packages/local/src/host/link/open-link.ts';
import { ServedLink } from '../../../packages/local/src/host/link/serve-link.ts';
import { type Acquiring, NoWorkerError } from '../../../packages/local/src/host/workers/worker-lease.ts';
import type { WorkerPool } from '../../../packages/local/src/host/workers/worker-pool.ts';
import { until } from '../support.ts';

const MIB = 1024 * 1024;
const SPEC: FunctionSpec = {
  name: 'echo',
  region: 'r',
  trigger: { kind: 'https' },
  timeoutSeconds: 60,
  concurrency: 80,
  secrets: [],
  takesWhole: true,
};

/** A function with a short timeout, for tests that wait for it. */
const IMPATIENT: FunctionSpec = { ...SPEC, timeoutSeconds: 1 };

interface Response {
  end(body?: Buffer): void;
  write(chunk: Buffer): boolean;
}

const functions = new Map<string, FunctionHandler>([
  [
    'echo',
    (asked, response) =>
      (response as Response).end((asked as { rawBody?: Buffer }).rawBody ?? Buffer.alloc(0)),
  ],
  [
    'flood',
    (_request, response) => {
      for (let i = 0; i < 40; i += 1) (response as Response).write(Buffer.alloc(1024 * 1024));
      (response as Response).end();
    },
  ],
]);

let worker: Server;
let front: Server;
let link: FrameClient;
let forwarder: Forwarder;
/** Slots of workers: currently used, and total number of acquisitions. */
let places: number;
let taken: number;
/** Users that acquired them. */
let users: (string | undefined)[];
/** For each acquisition, true if the request was to go by frames. */
let framed: (boolean | undefined)[];
let spec: FunctionSpec;

beforeEach(async () => {
  places = 0;
  taken = 0;
  users = [];
  framed = [];
  spec = SPEC;
  worker = functionsServer(functions, Date.now);
  new ServedLink(worker, { handlers: functions, tasks: new Set(), now: Date.now });
  worker.listen(0, '127.0.0.1');
  await once(worker, 'listening');
  const { port } = worker.address() as AddressInfo;
  link = (await openLink(port)) as FrameClient;
  const acquire = async (_spec: FunctionSpec, { user, byFrames }: Acquiring) => {
    users.push(user);
    framed.push(byFrames);
    places += 1;
    taken += 1;
    const release = () => {
      places -= 1;
    };
    return { port, link, release, broken: () => {} };
  };
  forwarder = new Forwarder({ pool: () => ({ acquire }) as unknown as WorkerPool });
  front = createServer((incoming, response) => {
    const { headers, url } = incoming;
    const asked = url === '/flood' ? { ...spec, name: 'flood' } : spec;
    void forwarder.forward({ spec: asked, path: '/', headers, request: incoming, response });
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
});
afterEach(() => {
  forwarder.close();
  link.close();
  for (const server of [worker, front]) {
    server.close();
    server.closeAllConnections();
  }
});

test.each<[string, Record<string, string>, number, boolean]>([
  ['a small one', {}, 10, true],
  ['a small one in chunks', { 'transfer-encoding': 'chunked' }, 10, true],
  ['one that is encoded', { 'content-encoding': 'identity' }, 10, false],
  ['a large one', {}, MIB + 1, false],
  ['a large one in chunks', { 'transfer-encoding': 'chunked' }, MIB + 1, false],
])(
  'a body goes by frames if it is small once it has arrived: %s',
  async (_what, headers, bytes, expected) => {
    const { port } = front.address() as AddressInfo;
    const body = Buffer.alloc(bytes, 'a');
    const outgoing = request({ port, method: 'POST', headers });
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect((await buffer(response)).equals(body)).toBe(true);
    expect(framed).toEqual([expected]);
  },
);

/** A request with a body of ten bytes, of which only five are sent. */
function begin() {
  const { port } = front.address() as AddressInfo;
  const outgoing = request({ port, method: 'POST', headers: { 'content-length': 10 } });
  outgoing.write('first');
  const arrived = once(front, 'request');
  const answer = new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', async (response) =>
      resolve({ status: response.statusCode, body: await text(response) }),
    );
  });
  answer.catch(() => {});
  return { outgoing, answer, arrived };
}

test('a request with an endless body times out, and occupies no slot', async () => {
  spec = IMPATIENT;
  const { outgoing, answer } = begin();
  expect((await answer).status).toBe(504);
  expect(taken).toBe(0);
  outgoing.destroy();
});

test('a request aborted before its body is complete occupies no slot', async () => {
  const { outgoing, arrived } = begin();
  const [, response] = await arrived;
  const closed = once(response, 'close');
  outgoing.destroy();
  await closed;
  expect(taken).toBe(0);
});

test('the user of a slot is the caller of a request, or the queue of a task', async () => {
  const { port } = front.address() as AddressInfo;
  const ask = (headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}/`, { headers }).then((answer) => answer.text());
  await ask({});
  await ask({ authorization: 'Bearer one', 'X-CloudTasks-QueueName': 'forged' });
  await forwarder.dispatch(SPEC, '/', {
    url: '',
    method: 'POST',
    headers: { 'X-CloudTasks-QueueName': 'drive-2', Authorization: 'Bearer task' },
    body: Buffer.from('x'),
    signal: new AbortController().signal,
  });
  expect(users).toEqual([undefined, 'Bearer one', 'drive-2']);
});

const STALLED: readonly (readonly [framing: string, headers: OutgoingHttpHeaders, sent: number])[] = [
  ['of unknown length', { 'transfer-encoding': 'chunked' }, 5],
  ['of unknown length, almost 1 MiB', { 'transfer-encoding': 'chunked' }, MIB],
  ['of 20 MiB', { 'content-length': 20 * MIB }, 5],
  ['that is encoded', { 'content-length': 10, 'content-encoding': 'gzip' }, 5],
];

test.each(STALLED)('a body %s that stalls occupies no slot', async (_framing, headers, sent) => {
  spec = IMPATIENT;
  const { port } = front.address() as AddressInfo;
  const outgoing = request({ port, method: 'POST', headers });
  outgoing.write(Buffer.alloc(sent));
  const [response] = await once(outgoing, 'response');
  expect(response.statusCode).toBe(504);
  expect(taken).toBe(0);
  outgoing.destroy();
});

test('a body arrives as it was sent, whatever its framing and chunks', async () => {
  const { port } = front.address() as AddressInfo;
  const framing = fc.constantFrom('chunked', 'length');
  const pieces = fc.array(fc.nat({ max: MIB / 2 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(framing, pieces, async (framed, lengths) => {
      const parts = lengths.map((length, at) => Buffer.alloc(length, at + 1));
      const body = Buffer.concat(parts);
      const headers: OutgoingHttpHeaders =
        framed === 'chunked' ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length };
      const outgoing = request({ port, method: 'POST', headers });
      for (const part of parts) if (part.length > 0) outgoing.write(part);
      outgoing.end();
      const [response] = await once(outgoing, 'response');
      expect((await buffer(response)).equals(body)).toBe(true);
    }),
    { numRuns: 15 },
  );
  await until(() => places === 0, 'the end of the requests');
});

test('a request is not lost with a link that ends while its body is read', async () => {
  const { outgoing, answer, arrived } = begin();
  await arrived;
  link.close();
  await until(() => !link.isOpen, 'the end of the link');
  outgoing.end('after');
  expect(await answer).toEqual({ status: 200, body: 'firstafter' });
  await until(() => places === 0, 'the end of the request');
});

test('a slow client of a large response causes one pause and one resume', async () => {
  const warnings = jest.spyOn(process, 'emitWarning');
  const { port } = front.address() as AddressInfo;
  const outgoing = request({ port, path: '/flood' }).end();
  const [response] = await once(outgoing, 'response');
  await until(() => places === 0, 'all of the answer to be on its way');
  let received = 0;
  for await (const chunk of response) received += chunk.length;
  expect(received).toBe(40 * 1024 * 1024);
  expect(warnings).not.toHaveBeenCalled();
  warnings.mockRestore();
});

const EARLY: readonly (readonly [what: string, worker: (port: number) => Promise<object>])[] = [
  ['by the function', async (port) => ({ port, release() {}, broken() {} })],
  [
    'because no worker is free',
    async () => {
      throw new NoWorkerError(503, 'no worker');
    },
  ],
];

test.each(EARLY)(
  'a large body that is answered %s before it was read does not hold up the next request of the connection',
  async (_what, acquire) => {
    const busy = createServer((_request, response) => response.writeHead(503).end());
    busy.listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port: busyPort } = busy.address() as AddressInfo;
    const pool = { acquire: () => acquire(busyPort) } as unknown as WorkerPool;
    const own = new Forwarder({ pool: () => pool });
    front.removeAllListeners('request');
    front.on('request', (incoming, response) => {
      void own.forward({ spec, path: '/', headers: incoming.headers, request: incoming, response });
    });
    const socket = connect((front.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${20 * MIB}\r\n\r\n`);
    socket.write(Buffer.alloc(20 * MIB));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const answers = await text(socket);
    expect(answers.match(/HTTP\/1\.1 503/g)).toHaveLength(2);
    own.close();
    busy.close();
    busy.closeAllConnections();
  },
);

describe('a request that its worker left to another', () => {
  let moving: Forwarder;
  /** Signals of the requests for a worker, in order. */
  let signals: (AbortSignal | undefined)[];
  let isMovable: boolean;
  let isShared: boolean;
  /** No code if the connection broke. */
  let failure: { code: number | undefined; details: string };
  /** Deadline by which the worker had to take the request. */
  let takeBy: number | undefined;
  beforeEach(() => {
    signals = [];
    isMovable = true;
    isShared = false;
    failure = { code: TOO_LATE, details: 'the worker was busy' };
    const call = (_path: string, request: Uint8Array, { onEnd }: FrameListener) => {
      ({ takeBy } = decode<RequestHead>(Buffer.from(request)).head);
      queueMicrotask(() => onEnd(failure));
      return { end() {}, pause() {}, resume() {} };
    };
    const link = { isOpen: true, call };
    const acquire = (_spec: FunctionSpec, { signal }: Acquiring) => {
      signals.push(signal);
      if (signals.length === 1)
        return Promise.resolve({
          port: 1,
          link,
          isMovable,
          isShared,
          release() {},
          broken() {},
          late() {},
        });
      return new Promise((_resolve, reject) => {
        const leave = () => reject(new NoWorkerError(503, 'the request was aborted'));
        signal?.addEventListener('abort', leave, { once: true });
      });
    };
    moving = new Forwarder({ pool: () => ({ acquire }) as unknown as WorkerPool });
    front.removeAllListeners('request');
    front.on('request', (incoming, response) => {
      void moving.forward({ spec, path: '/', headers: incoming.headers, request: incoming, response });
    });
  });
  afterEach(() => moving.close());

  const isWaiting = () => signals[1]?.aborted === false;
  const hasLeft = () => signals[1]?.aborted === true;
  const task = (signal: AbortSignal) => ({
    url: '',
    method: 'POST' as const,
    headers: {},
    body: Buffer.from('x'),
    signal,
  });

  test.each([true, false])('had a deadline for taking it if the request may move (%p)', async (may) => {
    isMovable = may;
    const queue = new AbortController();
    const result = moving.dispatch(SPEC, '/', task(queue.signal));
    await until(isWaiting, 'the task to wait');
    expect(takeBy !== undefined).toBe(may);
    queue.abort();
    await result;
  });

  test.each<[string, Record<string, string>, boolean, string]>([
    ['GET', {}, true, 'waits for another'],
    ['GET', {}, false, 'fails'],
    ['POST', {}, true, 'fails'],
    ['POST', { 'idempotency-key': 'k' }, true, 'waits for another'],
    ['POST', { 'idempotency-key': 'k' }, false, 'fails'],
  ])(
    'is repeated after its death only if that is safe and a body may be the reason: %s %p, %p',
    async (method, headers, shared, expected) => {
      isShared = shared;
      failure = { code: undefined, details: 'it died' };
      const { port } = front.address() as AddressInfo;
      const leaving = new AbortController();
      const answer = fetch(`http://127.0.0.1:${port}/`, { method, headers, signal: leaving.signal }).then(
        ({ status }) => (status === 503 ? 'fails' : String(status)),
        () => 'waits for another',
      );
      await Promise.race([answer, until(isWaiting, 'the request to wait')]);
      leaving.abort();
      expect(await answer).toBe(expected);
    },
  );

  test('does not wait for it once its caller is gone', async () => {
    const { port } = front.address() as AddressInfo;
    const outgoing = request({ port }).end();
    outgoing.on('error', () => {});
    await until(isWaiting, 'the request to wait');
    outgoing.destroy();
    await until(hasLeft, 'its end');
  });

  test('does not wait for it after its timeout', async () => {
    spec = IMPATIENT;
    const { port } = front.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(answer.status).toBe(504);
    expect(hasLeft()).toBe(true);
  });

  test('does not wait for it after the timeout of a task', async () => {
    const { signal } = new AbortController();
    const result = await moving.dispatch(IMPATIENT, '/', task(signal));
    expect(result).toMatchObject({ kind: 'answered', status: 504 });
    expect(hasLeft()).toBe(true);
  });

  test('does not wait for it once the queue has aborted the task', async () => {
    const queue = new AbortController();
    const result = moving.dispatch(SPEC, '/', task(queue.signal));
    await until(isWaiting, 'the task to wait');
    queue.abort();
    expect(await result).toMatchObject({ kind: 'unreachable' });
    expect(hasLeft()).toBe(true);
  });
});
