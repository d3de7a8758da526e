/** Both sides of the frame protocol: that of the servers and that of the workers. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Server, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Wire, wireTo } from '../../packages/cairn/src/platform/clients/wire.ts';
import { frameServer } from '../../packages/local-kit/src/wire/frame-server.ts';
import { FrameReader, MAX_FRAME_BYTES, PREFACE } from '../../packages/local-kit/src/wire/frames.ts';
import { listenForBoth, type SharedPort } from '../../packages/local-kit/src/wire/shared-port.ts';
import { refusal, until } from './support.ts';

const PATIENCE_MS = 60_000;
const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** Messages are texts. */
const definition = Object.fromEntries(
  ['Echo', 'Refuse', 'Never', 'List', 'Talk', 'Follow'].map((name) => [
    name,
    {
      path: `/test.Service/${name}`,
      requestStream: name === 'Talk' || name === 'Follow',
      responseStream: name === 'List' || name === 'Talk' || name === 'Follow',
      requestSerialize: Buffer.from,
      requestDeserialize(bytes: Buffer) {
        if (bytes.toString() === 'unreadable') throw new Error('no such message');
        return { text: bytes.toString() };
      },
      responseSerialize: ({ text }: { text: string }) => Buffer.from(text),
      responseDeserialize: String,
    },
  ]),
) as unknown as ServiceDefinition;

interface Texts {
  readonly request: { readonly text: string };
  readonly cancelled: boolean;
  on(event: 'cancelled', listener: () => void): void;
  on(event: 'data', listener: (request: { readonly text: string }) => void): void;
}
interface Sends {
  write(message: { readonly text: string }): void;
  end(): void;
  emit(event: 'error', failure: object): void;
}
type Reply = (error: object | null, answer?: object) => void;

/** Active listeners by their requests. */
const followed = new Map<string, Sends>();

/** @param cancelled called with each call of `Never` whose caller is gone */
async function serve(port = 0, cancelled: (call: Texts) => void = () => {}): Promise<SharedPort> {
  const implementation = {
    Echo: (call: Texts, reply: Reply) => setImmediate(() => reply(null, call.request)),
    Refuse: (call: Texts, reply: Reply) =>
      reply({ code: Number(call.request.text), details: `says ${call.request.text}` }),
    Never: (call: Texts) => call.on('cancelled', () => cancelled(call)),
    List: (call: Texts & Sends) => {
      const [count, end] = call.request.text.split(' ');
      for (let i = 0; i < Number(count); i += 1) call.write({ text: `message ${i}` });
      if (end === undefined) call.end();
      else call.emit('error', { code: Number(end), details: `ends with ${end}` });
      // Nothing reaches the caller after the end.
      call.write({ text: 'late' });
      call.end();
    },
    Talk: () => {},
    Follow: (call: Texts & Sends) => {
      call.on('data', ({ text }) => followed.set(text, call));
      call.on('cancelled', () => {
        for (const [text, one] of followed) if (one === call) followed.delete(text);
      });
    },
  } as unknown as UntypedServiceImplementation;
  const http = createHttpServer((_request, response) => response.end('http'));
  const shared = await listenForBoth(
    {
      grpc: new Server(),
      http,
      frames: frameServer([{ definition, implementation, listeners: ['Follow'] }]),
    },
    port,
  );
  open.push(shared);
  return shared;
}

const bytes = (text: string) => Buffer.from(text);
const portOf = ({ host }: SharedPort) => Number(host.split(':')[1]);

describe('a call over the wire', () => {
  test('returns the result of the handler, whatever its size', async () => {
    const { host } = await serve();
    const wire = new Wire(host);
    const texts = ['', 'x', 'ä'.repeat(300_000)];
    const answers = await Promise.all(
      texts.map((text) => wire.call('/test.Service/Echo', bytes(text), PATIENCE_MS)),
    );
    expect(answers.map(String)).toEqual(texts);
  });

  test('gets its own response among thousands in flight', async () => {
    const { host } = await serve();
    const wire = new Wire(host);
    const texts = Array.from({ length: 5_000 }, (_, i) => `call ${i}`);
    const answers = await Promise.all(
      texts.map((text) => wire.call('/test.Service/Echo', bytes(text), PATIENCE_MS)),
    );
    expect(answers.map(String)).toEqual(texts);
  });

  test('fails with the status and message of the handler', async () => {
    const wire = new Wire((await serve()).host);
    expect(await refusal(wire.call('/test.Service/Refuse', bytes('6'), PATIENCE_MS))).toEqual({
      code: 6,
      details: 'says 6',
    });
    expect(await refusal(wire.call('/test.Service/Refuse', bytes('14'), PATIENCE_MS))).toEqual({
      code: 14,
      details: 'says 14',
    });
  });

  test.each([
    ['a method that is not there', '/test.Service/Other', 'x', 12],
    ['a method with a stream of requests', '/test.Service/Talk', 'x', 12],
    ['a message that cannot be read', '/test.Service/Echo', 'unreadable', 13],
  ])('of %s fails, and the next one is answered', async (_what, path, text, code) => {
    const wire = new Wire((await serve()).host);
    expect(await refusal(wire.call(path, bytes(text), PATIENCE_MS))).toMatchObject({ code });
    expect(String(await wire.call('/test.Service/Echo', bytes('next'), PATIENCE_MS))).toBe('next');
  });

  test('larger than the frame limit is refused before it is sent', async () => {
    const wire = new Wire('127.0.0.1:1');
    const call = wire.call('/test.Service/Echo', Buffer.alloc(MAX_FRAME_BYTES), PATIENCE_MS);
    expect(await refusal(call)).toMatchObject({ code: 3 });
  });

  test('without a response fails at its deadline, and the connection continues', async () => {
    const wire = new Wire((await serve()).host);
    expect(await refusal(wire.call('/test.Service/Never', bytes('x'), 20))).toMatchObject({ code: 4 });
    expect(String(await wire.call('/test.Service/Echo', bytes('next'), PATIENCE_MS))).toBe('next');
  });

  test('has an unknown outcome if the server ends, and the next call reaches its replacement', async () => {
    const first = await serve();
    const wire = new Wire(first.host);
    await wire.call('/test.Service/Echo', bytes('connected'), PATIENCE_MS);
    const lost = refusal(wire.call('/test.Service/Never', bytes('x'), PATIENCE_MS));
    first.close();
    expect(await lost).toMatchObject({ code: 14 });
    expect(await refusal(wire.call('/test.Service/Echo', bytes('x'), PATIENCE_MS))).toMatchObject({
      code: 14,
    });
    await serve(portOf(first));
    expect(String(await wire.call('/test.Service/Echo', bytes('again'), PATIENCE_MS))).toBe('again');
  });

  test('is cancelled at the server when its caller goes away', async () => {
    const cancelled: boolean[] = [];
    const { host } = await serve(0, (call) => void cancelled.push(call.cancelled));
    const socket = connect({ host: '127.0.0.1', port: Number(host.split(':')[1]) });
    await once(socket, 'connect');
    const path = bytes('/test.Service/Never');
    const head = Buffer.alloc(9);
    head.writeUInt32LE(5 + path.length, 0);
    head.writeUInt8(path.length, 8);
    socket.write(Buffer.concat([PREFACE, head, path]));
    socket.end();
    await until(() => cancelled.length > 0, 'the handler to hear of it');
    expect(cancelled).toEqual([true]);
  });
});

describe('a streaming call', () => {
  test('returns all its messages in order, alongside others', async () => {
    const wire = new Wire((await serve()).host);
    const counts = [0, 1, 2_000];
    const answers = await Promise.all(
      counts.map((count) => wire.stream('/test.Service/List', bytes(`${count}`), PATIENCE_MS)),
    );
    for (const [i, count] of counts.entries())
      expect(answers[i]?.map(String)).toEqual(Array.from({ length: count }, (_, n) => `message ${n}`));
  });

  test('fails with its final status, whatever came before, and the next call succeeds', async () => {
    const wire = new Wire((await serve()).host);
    expect(await refusal(wire.stream('/test.Service/List', bytes('3 14'), PATIENCE_MS))).toEqual({
      code: 14,
      details: 'ends with 14',
    });
    expect(await wire.stream('/test.Service/List', bytes('1'), PATIENCE_MS)).toHaveLength(1);
  });
});

describe('a listener', () => {
  function follow(wire: Wire, text: string) {
    const heard: string[] = [];
    const ends: number[] = [];
    const stop = wire.listen('/test.Service/Follow', bytes(text), {
      onMessage: (message) => heard.push(String(message)),
      onEnd: ({ code }) => ends.push(code),
    });
    return { heard, ends, stop };
  }
  const tell = (text: string, message: string) => followed.get(text)?.write({ text: message });

  test('receives messages until it ends the call, and the server is notified', async () => {
    const wire = new Wire((await serve()).host);
    const one = follow(wire, 'one');
    const other = follow(wire, 'other');
    await until(() => followed.has('one') && followed.has('other'), 'both to be heard of');
    tell('one', 'first');
    tell('other', 'else');
    tell('one', 'second');
    await until(() => one.heard.length === 2 && other.heard.length === 1, 'the messages');
    expect([one.heard, other.heard]).toEqual([['first', 'second'], ['else']]);
    one.stop();
    one.stop();
    await until(() => !followed.has('one'), 'the server to be told');
    expect(followed.has('other')).toBe(true);
    expect(String(await wire.call('/test.Service/Echo', bytes('next'), PATIENCE_MS))).toBe('next');
    expect([one.ends, other.ends]).toEqual([[], []]);
  });

  test.each([
    ['the status with which the server ends it', (call: Sends) => call.emit('error', { code: 7 }), 7],
    ['UNAVAILABLE when the server ends it without one', (call: Sends) => call.end(), 14],
  ])('ends with %s', async (_what, end, code) => {
    const wire = new Wire((await serve()).host);
    const one = follow(wire, 'ending');
    await until(() => followed.has('ending'), 'it to be heard of');
    end(followed.get('ending') as Sends);
    await until(() => one.ends.length > 0, 'the end');
    expect(one.ends).toEqual([code]);
    followed.delete('ending');
  });

  test('ends with UNAVAILABLE when the connection is lost', async () => {
    const served = await serve();
    const one = follow(new Wire(served.host), 'lost');
    await until(() => followed.has('lost'), 'it to be heard of');
    served.close();
    await until(() => one.ends.length > 0, 'the end');
    expect(one.ends).toEqual([14]);
  });

  test('does not count towards the limit of calls per connection', async () => {
    const wire = new Wire((await serve()).host);
    for (let i = 0; i < 1_100; i += 1) follow(wire, `many ${i}`);
    await until(() => followed.has('many 1099'), 'all to be heard of');
    expect(String(await wire.call('/test.Service/Echo', bytes('next'), PATIENCE_MS))).toBe('next');
  });
});

test('a port still serves HTTP, and a connection that announces too long a frame is closed', async () => {
  const { host } = await serve();
  expect(await (await fetch(`http://${host}/`)).text()).toBe('http');
  const socket = connect({ host: '127.0.0.1', port: Number(host.split(':')[1]) });
  socket.on('error', () => {});
  socket.write(Buffer.concat([PREFACE, Buffer.alloc(4, 0xff)]));
  await once(socket, 'close');
});

test('responses that arrive together are passed on in turns of their own, so that their callers send in between', async () => {
  const CALLS = 20;
  const server = createServer((socket) => {
    const frames = new FrameReader();
    let pieces: Buffer[] = [];
    socket.on('data', (piece) => {
      const calls = frames.read(piece.subarray(socket.bytesRead === piece.length ? PREFACE.length : 0));
      for (const call of calls) {
        const answer = Buffer.from([5, 0, 0, 0, 0, 0, 0, 0, 0]);
        call.copy(answer, 4, 0, 4);
        pieces.push(answer);
      }
      if (pieces.length < CALLS) return;
      socket.write(Buffer.concat(pieces));
      pieces = [];
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  open.push(server);
  const wire = new Wire(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  const order: string[] = [];
  let isOver = false;
  const countTurns = () => {
    order.push('turn');
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  await Promise.all(
    Array.from({ length: CALLS }, () =>
      wire.call('/x', bytes('x'), PATIENCE_MS).then(() => order.push('answer')),
    ),
  );
  isOver = true;
  const together = order.filter((one, i) => one === 'answer' && order[i + 1] === 'answer');
  expect(order.filter((one) => one === 'answer')).toHaveLength(CALLS);
  expect(together).toEqual([]);
});

test.each([
  ['announces too many bytes', Buffer.alloc(8, 0xff)],
  ['has no status', Buffer.of(5, 0, 0, 0, 9, 0, 0, 0, 0, 2, 0, 0, 0, 9, 0)],
])('a response that %s fails the calls in flight, not the process', async (_, response) => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.once('data', () => socket.write(response));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  const wire = new Wire(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(await refusal(wire.call('/test.Service/Echo', bytes('x'), PATIENCE_MS))).toMatchObject({ code: 14 });
  for (const socket of sockets) socket.destroy();
});

test('frames are parsed in whatever chunks they arrive', () => {
  const frames = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 });
  fc.assert(
    fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 30 })), (all, sizes) => {
      const stream = Buffer.concat(
        all.flatMap((frame) => {
          const length = Buffer.alloc(4);
          length.writeUInt32LE(frame.length);
          return [length, frame];
        }),
      );
      const reader = new FrameReader();
      const found: Buffer[] = [];
      for (let at = 0; at < stream.length; ) {
        const next = at + (sizes.next().value as number);
        found.push(...reader.read(stream.subarray(at, next)));
        at = next;
      }
      expect(found.map((frame) => [...frame])).toEqual(all.map((frame) => [...frame]));
    }),
  );
});

test('only hosts that the local cloud named are called by frames', () => {
  const served = new Set(['127.0.0.1:1']);
  expect(wireTo('127.0.0.1:2', served)).toBeUndefined();
  expect(wireTo(undefined, served)).toBeUndefined();
  expect(wireTo('127.0.0.1:1', served)).toBe(wireTo('127.0.0.1:1', served));
});
