/** A stream through the adapter between the web's `Response` and the response object of Cloud Functions. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exchange } from '../../packages/cairn/src/platform/http.ts';
import { SILENT } from '../support/world.ts';

const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

/** The requested streams, each fed by its test. */
const source: { controller?: ReadableStreamDefaultController<Uint8Array> } = {};
let cancelled = Promise.withResolvers<void>();
let exchanged = Promise.withResolvers<void>();

function streamed(): Response {
  const body = new ReadableStream<Uint8Array>({
    start(own) {
      source.controller = own;
    },
    cancel() {
      cancelled.resolve();
    },
  });
  return new Response(body, { headers: HEADERS });
}

const server = createServer(async (incoming, response) => {
  await exchange({ request: incoming as never, response, log: SILENT }, streamed);
  exchanged.resolve();
});
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function open() {
  cancelled = Promise.withResolvers();
  exchanged = Promise.withResolvers();
  delete source.controller;
  const asked = fetch(origin);
  const say = (text: string) => source.controller?.enqueue(Buffer.from(text));
  return { asked, say };
}

async function firstPiece(text: string) {
  const { asked, say } = await open();
  while (!source.controller) await new Promise((resolve) => setImmediate(resolve));
  say(text);
  const answer = await asked;
  const reader = answer.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(text);
  return { answer, reader, say };
}

test('each piece of a stream is sent as soon as it exists, and then its end', async () => {
  const { answer, reader, say } = await firstPiece('one\n\n');
  expect(answer.headers.get('content-length')).toBeNull();
  expect(Object.fromEntries(answer.headers)).toMatchObject(HEADERS);
  say('two\n\n');
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('two\n\n');
  source.controller?.close();
  expect((await reader.read()).done).toBe(true);
  await exchanged.promise;
});

test('a client that disconnects ends the stream at its source', async () => {
  const { reader } = await firstPiece('one\n\n');
  await reader.cancel();
  await cancelled.promise;
  await exchanged.promise;
});

test('a stream that fails is cut off, so that it does not look complete', async () => {
  const { reader } = await firstPiece('one\n\n');
  source.controller?.error(new Error('the journal cannot be read'));
  await expect(reader.read()).rejects.toThrow();
  await exchanged.promise;
});
