import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

const MIB = 1024 * 1024;
const HEAP_MB = 96;
/** `BODIES=2000` before the command sends more generated bodies. */
const BODIES = Number(process.env.BODIES ?? 40);
const FRAMEWORK = fileURLToPath(new URL('./framework.ts', import.meta.url));

interface Framework {
  readonly port: number;
  readonly process: ChildProcess;
}

async function start(target: string): Promise<Framework> {
  const flags = [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, FRAMEWORK], {
    // In other environments Express logs each refused request.
    env: { PATH: process.env.PATH, NODE_ENV: 'test', GCLOUD_PROJECT: 'demo-cairn', FUNCTION_TARGET: target },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { port: Number(line.toString()), process: child };
}

/** Reads responses as raw bytes: a client library would refuse to send most of these requests, or hide how the connection ended. */
class Exchange {
  readonly socket: Socket;
  readonly answer: Promise<{ status: number; body: Record<string, unknown> }>;

  constructor({ port }: Framework, head: readonly string[]) {
    this.socket = connect(port, '127.0.0.1');
    const lines = ['POST /v1/runs HTTP/1.1', 'Host: localhost', ...head];
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    let seen = '';
    this.answer = new Promise((resolve, reject) => {
      const lastLine = () => {
        const [top = '', body = ''] = seen.split('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(top)?.[1] ?? Number.NaN);
        if (body.length < length || Number.isNaN(length)) return;
        resolve({ status: Number(top.split(' ')[1]), body: JSON.parse(body) });
      };
      this.socket.on('data', (chunk) => {
        seen += chunk.toString();
        lastLine();
      });
      this.socket.on('error', () => undefined);
      this.socket.on('close', () => reject(new Error(`closed after: ${seen}`)));
    });
    // The test ends some exchanges itself and expects no response.
    this.answer.catch(() => undefined);
  }

  send(bytes: Buffer | string): this {
    this.socket.write(bytes);
    return this;
  }
}

const json = 'Content-Type: application/json';
const length = (bytes: number) => `Content-Length: ${bytes}`;
const whole = (framework: Framework, body: Buffer, ...head: string[]) =>
  new Exchange(framework, [json, length(body.length), ...head]).send(body);

let api: Framework;
let github: Framework;
let slack: Framework;
let ofApp: Framework;
beforeAll(async () => {
  [api, github, slack, ofApp] = await Promise.all([
    start('api'),
    start('githubWebhook'),
    start('slackWebhook'),
    start('mcp'),
  ]);
});
afterAll(async () => {
  for (const { process: child } of [api, github, slack, ofApp]) {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

/** The default levels would take most of the time of these tests, and Brotli's best level half a minute. */
const quick = {
  gzip: (bytes: Buffer) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes: Buffer) => deflateSync(bytes, { level: 1 }),
  brotli: (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
};

async function stillServes(framework: Framework) {
  const exchange = whole(framework, Buffer.from('{}'));
  const answer = { status: 200, body: { bytes: 2, type: 'application/json', isParsed: false } };
  expect(await exchange.answer).toEqual(answer);
  exchange.socket.destroy();
  expect(framework.process.exitCode).toBeNull();
}

describe(`with ${HEAP_MB} MB of memory`, () => {
  test.each([
    ['gzip', quick.gzip],
    ['deflate', quick.deflate],
    ['br', quick.brotli],
    ['GZIP, identity', quick.gzip],
  ])('a body encoded as %s that inflates to 200 MiB is refused unread', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(200 * MIB, '[],'));
    expect(bomb.length).toBeLessThan(MIB);
    for (let i = 0; i < 3; i++) {
      const { answer } = whole(api, bomb, `Content-Encoding: ${encoding}`);
      expect(await answer).toMatchObject({
        status: 415,
        body: { code: 'UNSUPPORTED_MEDIA_TYPE', field: 'Content-Encoding' },
      });
    }
    await stillServes(api);
  });

  test('JSON of many small values is handed over as bytes, not parsed', async () => {
    const body = Buffer.alloc(30 * MIB, '[],');
    const exchange = whole(api, body);
    expect(await exchange.answer).toMatchObject({ body: { bytes: body.length, isParsed: false } });
    exchange.socket.destroy();
    await stillServes(api);
  });

  test('a body without a content type is handed over like any other', async () => {
    const exchange = new Exchange(api, [length(2)]).send('{}');
    expect(await exchange.answer).toEqual({ status: 200, body: { bytes: 2, isParsed: false } });
    exchange.socket.destroy();
  });

  test('a length over the limit of the entry point is refused unread, and a chunked body when it reaches the limit', async () => {
    const announced = new Exchange(api, [json, length(1e12)]);
    expect(await announced.answer).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
    const chunked = new Exchange(api, [json, 'Transfer-Encoding: chunked']);
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MIB, ' '), Buffer.from('\r\n')]);
    for (let i = 0; i < 33; i++) chunked.send(chunk);
    expect(await chunked.answer).toMatchObject({ status: 413 });
    await stillServes(api);
  });

  test('a body that never ends delays no other request', async () => {
    const slow = new Exchange(api, [json, length(1_000)]).send('{');
    await stillServes(api);
    slow.socket.destroy();
  });

  test('large bodies beyond what an instance holds are answered 503, and their room is free afterwards', async () => {
    const size = 30 * MIB;
    const all = [1, 2, 3].map(() =>
      new Exchange(api, [json, length(size)]).send(Buffer.alloc(size - 1, ' ')),
    );
    const refused = await Promise.race(all.map(({ answer }) => answer));
    expect(refused).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    await Promise.all(
      all.map(async ({ socket }) => {
        socket.destroy();
        if (!socket.closed) await once(socket, 'close');
      }),
    );
    await stillServes(api);
    const exchange = whole(api, Buffer.alloc(size, ' '));
    expect(await exchange.answer).toMatchObject({ status: 200, body: { bytes: size } });
    exchange.socket.destroy();
  });

  test('a delivery of GitHub of 25 MiB passes, one more byte does not', async () => {
    const body = Buffer.alloc(25 * MIB, ' ');
    const exchange = whole(github, body);
    expect(await exchange.answer).toMatchObject({ status: 200, body: { bytes: body.length } });
    exchange.socket.destroy();
    for (let i = 0; i < 10; i++) {
      expect(await whole(github, Buffer.alloc(25 * MIB + 1, ' ')).answer).toMatchObject({ status: 413 });
    }
    await stillServes(github);
  });

  test('a function of the app named in guardFunctions is guarded like the API, and receives the content type of the request', async () => {
    const bomb = quick.gzip(Buffer.alloc(200 * MIB, '[],'));
    expect(await whole(ofApp, bomb, 'Content-Encoding: gzip').answer).toMatchObject({ status: 415 });
    expect(await whole(ofApp, Buffer.alloc(MIB + 1, ' ')).answer).toMatchObject({ status: 413 });
    const untyped = new Exchange(ofApp, [length(2)]).send('{}');
    expect(await untyped.answer).toEqual({ status: 200, body: { bytes: 2, isParsed: false } });
    untyped.socket.destroy();
    await stillServes(ofApp);
  });

  test('no generated request ends the process of a public function, or has its body inflated or parsed', async () => {
    const small = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));
    const body = fc.oneof(
      small,
      small.map((bytes) => gzipSync(bytes)),
      fc.constantFrom(
        quick.gzip(Buffer.alloc(200 * MIB, '{"a":1},')),
        Buffer.alloc(MIB / 2, '['),
        Buffer.alloc(MIB, 'a[]=1&'),
        Buffer.alloc(MIB + 1, '\0'),
      ),
    );
    const request = fc.record({
      door: fc.constantFrom(api, github, slack),
      body,
      encoding: fc.option(fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'x-unknown', 'gzip, gzip')),
      type: fc.option(
        fc.constantFrom(
          'application/json; charset=utf-16',
          'application/cloudevents+json',
          'application/x-www-form-urlencoded',
          'text/plain; charset=unknown',
          'multipart/form-data; boundary=x',
          'no type',
        ),
      ),
      isChunked: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ door, body, encoding, type, isChunked }) => {
        const chunks = [`${body.length.toString(16)}\r\n`, body, body.length > 0 ? '\r\n0\r\n\r\n' : '\r\n'];
        const exchange = new Exchange(door, [
          ...(type === null ? [] : [`Content-Type: ${type}`]),
          ...(encoding === null ? [] : [`Content-Encoding: ${encoding}`]),
          isChunked ? 'Transfer-Encoding: chunked' : length(body.length),
        ]);
        for (const part of isChunked ? chunks : [body]) exchange.send(part);
        const answer = await exchange.answer;
        exchange.socket.destroy();
        const isEncoded = encoding !== null && encoding !== 'identity' && (isChunked || body.length > 0);
        if (isEncoded)
          expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
        else if (door === slack && body.length > MIB) expect(answer).toMatchObject({ status: 413 });
        else expect(answer).toMatchObject({ status: 200, body: { bytes: body.length, isParsed: false } });
      }),
      { numRuns: BODIES },
    );
    for (const door of [api, github, slack]) await stillServes(door);
  });
});
