/** The link to a worker that requests share with step bodies. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { onRequest } from 'firebase-functions/v2/https';
import type { FunctionHandler } from '../../../../packages/local/src/host/function-spec.ts';
import { functionsServer } from '../../../../packages/local/src/host/functions-server.ts';
import { openLink } from '../../../../packages/local/src/host/link/open-link.ts';
import { sendByLink } from '../../../../packages/local/src/host/link/send-by-link.ts';
import { ServedLink } from '../../../../packages/local/src/host/link/serve-link.ts';
import type { WorkerLease } from '../../../../packages/local/src/host/workers/worker-lease.ts';
import { until } from '../../support.ts';
import { clock } from './machine-clock.ts';

const FOREVER_MS = 60_000;

/** Promise that the functions below wait for, and their record of requests. */
let hold: PromiseWithResolvers<void>;
let seen: string[];

const held = onRequest(async (_request, response) => {
  response.once('close', () => seen.push('closed'));
  seen.push('held');
  await hold.promise;
  response.end(Buffer.from('held'));
});
const streamed = onRequest(async (request, response) => {
  response.writeHead(200, { 'content-type': request.header('x-type') });
  response.write(Buffer.from('one '));
  seen.push('streamed');
  await hold.promise;
  response.end(Buffer.from('two'));
});
const handlers = new Map(Object.entries({ held, heldTask: held, streamed })) as unknown as Map<
  string,
  FunctionHandler
>;

let server: Server;
let served: ServedLink;
let link: FrameClient;
let given: string[];
/** The worker's end of the link. */
let peer: Socket;

beforeEach(async () => {
  clock.stop();
  hold = Promise.withResolvers();
  seen = [];
  given = [];
  server = functionsServer(handlers, Date.now);
  served = new ServedLink(server, { handlers, tasks: new Set(['heldTask']), now: Date.now });
  server.on('upgrade', (_request, socket: Socket) => {
    peer = socket;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  link = (await openLink((server.address() as AddressInfo).port)) as FrameClient;
});
afterEach(() => {
  jest.restoreAllMocks();
  hold.resolve();
  link.close();
  server.close();
  server.closeAllConnections();
});

interface Asked {
  readonly method?: string;
  readonly type?: string;
  readonly repeatAfterMs?: number;
}

/** Sends a request; `over` resolves with its end. */
function send(name: string, { method = 'GET', type, repeatAfterMs = 0 }: Asked = {}) {
  const lease: WorkerLease = {
    port: 1,
    link,
    isMovable: true,
    isShared: true,
    release: () => given.push('released'),
    broken: () => given.push('broken'),
    // Like the pool, which informs each request of the worker.
    late: () => {
      given.push('late');
      lease.onBlocked?.(0);
    },
  };
  let body = '';
  const over = Promise.withResolvers<string>();
  sendByLink({
    link,
    lease,
    line: { name, method, path: '/', headers: { 'x-type': type, 'content-length': 0 } },
    body: Buffer.alloc(0),
    receiver: {
      onHead() {},
      onData(chunk) {
        body += chunk.toString();
        return true;
      },
      onEnd: () => over.resolve(body),
      onFailure: (why) => over.resolve(`${body}(${why})`),
    },
    isMovable: true,
    repeatAfterMs,
    notTaken: (why) => {
      given.push('not taken');
      over.resolve(`(${why})`);
    },
  });
  return { over: over.promise, lease, soFar: () => body };
}

/** Resolves once the function has the request. */
async function begin(name: string, asked?: Asked) {
  const sent = send(name, asked);
  // A request of an earlier test may be closed meanwhile.
  await until(() => seen.some((what) => what !== 'closed'), 'the function');
  return sent;
}

describe('a request that another worker may repeat', () => {
  test('leaves a worker that has died', async () => {
    const { over } = await begin('held');
    link.close();
    expect(await over).toBe('(died)');
    expect(given).toEqual(['broken', 'released', 'not taken']);
  });

  test('leaves a worker that does not take it, once', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    clock.stop();
    try {
      peer.pause();
      const { over } = send('held');
      clock.advance(400);
      jest.advanceTimersByTime(400);
      expect(await over).toBe('(late)');
      expect(given).toEqual(['late', 'released', 'not taken']);
    } finally {
      jest.useRealTimers();
    }
  });

  test('leaves a worker that a body blocks', async () => {
    const { over, lease } = await begin('held');
    lease.onBlocked?.(0);
    expect(await over).toBe('(blocked)');
    lease.onBlocked?.(0);
    await until(() => seen.includes('closed'), 'the function to hear of it');
    expect(given).toEqual(['released', 'not taken']);
  });

  test('leaves it after a time if it changes something, and once', async () => {
    const { over, lease } = await begin('held', { method: 'POST', repeatAfterMs: 7_000 });
    for (let silentMs = 0; silentMs < 7_000; silentMs += 500) lease.onBlocked?.(silentMs);
    expect(given).toEqual([]);
    lease.onBlocked?.(7_000);
    lease.onBlocked?.(7_500);
    expect(await over).toBe('(blocked)');
    expect(given).toEqual(['released', 'not taken']);
  });

  test('stays if it changes something and its worker is held up again and again, for a short time each', async () => {
    const { over, lease } = await begin('held', { method: 'POST', repeatAfterMs: 7_000 });
    for (const silentMs of [0, 3_500, 500, 6_500, 0]) {
      lease.onBlocked?.(silentMs);
      clock.advance(8_000);
    }
    hold.resolve();
    expect(await over).toBe('held');
    expect(given).toEqual(['released']);
  });

  test.each([
    [
      'ends, so that its reader connects again',
      'a stream of events',
      'text/event-stream',
      'one (its worker is busy)',
    ],
    ['stays', 'an answer that has begun', 'text/plain', 'one two'],
  ])('%s, if it is %s', async (_what, _which, type, expected) => {
    const { over, lease, soFar } = await begin('streamed', { type });
    await until(() => soFar() === 'one ', 'the beginning of the answer');
    lease.onBlocked?.(0);
    hold.resolve();
    expect(await over).toBe(expected);
  });
});

describe('a body that has not run before', () => {
  const turns = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  test.each([
    ['POST', 'held', true],
    ['DELETE', 'held', true],
    ['GET', 'held', false],
    ['POST', 'heldTask', false],
  ])('waits for the answer to a %s of %s: %s', async (method, name, expected) => {
    const { over } = await begin(name, { method });
    let isFree = false;
    const freed = served.answersSent(FOREVER_MS).then(() => {
      isFree = true;
    });
    await turns();
    expect(isFree).toBe(!expected);
    hold.resolve();
    expect(await over).toBe('held');
    await freed;
  });

  test('does not wait for longer than it may', async () => {
    const { over } = await begin('held', { method: 'POST' });
    await served.answersSent(1);
    hold.resolve();
    expect(await over).toBe('held');
  });
});
