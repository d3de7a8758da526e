/** A target whose answer never ends must not keep the server busy until the deadline of the attempt. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { dispatchOverHttp } from '../../../packages/local-tasks/src/dispatch/over-http.ts';

const PIECE = Buffer.alloc(256 * 1024);
let server: Server;
afterEach(() => void server.close());

/** Serves an answer of `bytes`. Resolves with how much of it was taken once the connection is closed. */
async function target(bytes: number) {
  let finished: (sent: number) => void = () => {};
  const sent = new Promise<number>((resolve) => {
    finished = resolve;
  });
  server = createServer((request, response) => {
    request.resume();
    let left = bytes;
    response.writeHead(503, { 'retry-after': '7' });
    const send = () => {
      while (left > 0) {
        left -= PIECE.length;
        if (!response.write(PIECE)) return;
      }
      response.end();
    };
    response.on('drain', send);
    response.on('close', () => finished(bytes - Math.max(left, 0)));
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const request = {
    url: `http://127.0.0.1:${port}/`,
    method: 'POST',
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
  };
  return { request, sent };
}

test.each([
  ['small', PIECE.length, PIECE.length],
  ['endless', Number.POSITIVE_INFINITY, undefined],
])('the status of a target counts, its answer being %s', async (_what, bytes, whole) => {
  const { request, sent } = await target(bytes);
  expect(await dispatchOverHttp(request)).toEqual({ kind: 'answered', status: 503, retryAfter: '7' });
  if (whole !== undefined) expect(await sent).toBe(whole);
});
