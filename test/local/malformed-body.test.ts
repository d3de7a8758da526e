import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { answerUnreadable } from '@cairn/local-kit/http/unreadable';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';

async function withServer(handle: RequestListener, work: (port: number) => Promise<void>): Promise<void> {
  const server: Server = createServer(handle);
  answerUnreadable(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await once(server.close(), 'close');
  }
}

/** Everything received until the connection is closed. */
async function sent(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(bytes);
  const back = await text(socket);
  return back;
}

const HEAD = 'POST /api/v1/runs HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n';
const goodChunk = fc
  .string({ unit: fc.constantFrom(...'abc{}":1'), minLength: 1, maxLength: 40 })
  .map((data) => `${data.length.toString(16)}\r\n${data}\r\n`);
/** A chunk with an invalid size or without an end. */
const badChunk = fc.oneof(
  fc.constantFrom(
    'zz\r\nab\r\n',
    '-1\r\n',
    'g\r\n',
    '3\r\nabcdef\r\n',
    'ffffffffffffffffff\r\n',
    '\u0000\r\n',
  ),
  fc
    .string({ unit: fc.constantFrom(...'ghijklmnop!?'), minLength: 1, maxLength: 20 })
    .map((size) => `${size}\r\n`),
);

test('a malformed chunked body gets 400 and a closed connection, whoever reads the body', async () => {
  for (const reads of [true, false])
    await withServer(
      (request) => {
        if (reads) request.resume();
      },
      (port) =>
        fc.assert(
          fc.asyncProperty(fc.array(goodChunk, { maxLength: 3 }), badChunk, async (before, bad) => {
            const back = await sent(port, `${HEAD}${before.join('')}${bad}`);
            expect(back).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
            expect(back.toLowerCase()).toContain('\r\nconnection: close\r\n');
            expect(
              JSON.parse(back.slice(back.indexOf('{')).replace(/\r\n[0-9a-f]*\r\n[\s\S]*$/, '')),
            ).toMatchObject({
              code: 'INVALID_INPUT',
              status: 400,
              detail: 'the request is not valid HTTP',
              help: 'Send a complete request that is valid HTTP.',
            });
          }),
          { numRuns: 40 },
        ),
    );
});

test('a response in progress is cut, so that it does not look complete', async () => {
  await withServer(
    (request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      request.resume();
    },
    async (port) => {
      const back = await sent(port, `${HEAD}zz\r\n`);
      expect(back).not.toContain('400');
      expect(back.endsWith('half') || back === '').toBe(true);
    },
  );
});
