/** A target with an endless answer must not keep the server busy until the deadline of the attempt. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { dispatchOverHttp } from '../../../packages/local-tasks/src/dispatch/over-http.ts';

const PIECE = Buffer.alloc(256 * 1024);
/** Twice the limit of an answer, because the connection has buffers. */
const MOST_TAKEN = 64 * 1024 * 1024;
let server: Server;
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** Serves an answer of `pieces` pieces. `sent` resolves with the number of sent bytes once the connection is closed. */
async function target(pieces: number) {
  let finished: (sent: number) => void = () => {};
  const sent = new Promise<number>((resolve) => {
    finished = resolve;
  });
  server = createServer((request, response) => {
    request.resume();
    let taken = 0;
    response.writeHead(503, { 'retry-after': '7' });
    const send = () => {
      while (taken < pieces * PIECE.length) {
        taken += PIECE.length;
        if (!response.write(PIECE)) return;
      }
      response.end();
    };
    response.on('drain', send);
    response.on('close', () => finished(taken));
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
  ['small', 1, PIECE.length],
  ['endless', Number.POSITIVE_INFINITY, MOST_TAKEN],
])(
  'the status of a target counts, and the connection ends, if its answer is %s',
  async (_what, pieces, most) => {
    const { request, sent } = await target(pieces);
    expect(await dispatchOverHttp(request)).toEqual({ kind: 'answered', status: 503, retryAfter: '7' });
    expect(await sent).toBeLessThanOrEqual(most);
  },
);
