import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Request as FunctionRequest } from 'firebase-functions/https';
import { exchange, toRequest } from '../../packages/cairn/src/platform/http.ts';
import { SILENT } from '../support/world.ts';

const LARGE = Buffer.alloc(9 * 1024 * 1024, 'abc');

/** Returns a description of the adapted request; `/empty` returns no body, `/large` a large one. */
async function answerFor(request: Request): Promise<Response> {
  if (new URL(request.url).pathname === '/empty')
    return new Response(null, { status: 204, headers: { 'x-own': '1' } });
  // Like the router's response to HEAD: that of GET without its body.
  if (new URL(request.url).pathname === '/head') return new Response(null);
  if (new URL(request.url).pathname === '/large') return new Response(LARGE);
  const bytes = Buffer.from(await request.arrayBuffer());
  return Response.json(
    {
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(request.headers),
      sha256: createHash('sha256').update(bytes).digest('hex'),
    },
    { status: 201, headers: { location: '/somewhere' } },
  );
}

/** Reads the bytes into `rawBody`, as Cloud Functions does before it calls a function. */
async function withRawBody(incoming: IncomingMessage): Promise<FunctionRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Object.assign(incoming, { rawBody: chunks.length > 0 ? Buffer.concat(chunks) : undefined }) as never;
}

const server = createServer(async (incoming, response) => {
  await exchange({ request: await withRawBody(incoming), response, log: SILENT }, answerFor);
});
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const CONNECTED = { closed: false, once: () => undefined };

type Seen = { method: string; url: string; headers: Record<string, string>; sha256: string };

describe('a request through the adapter', () => {
  test('with a method that no web request can have is refused with a 4xx', async () => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${origin}/v1/runs`, { method: 'TRACE' }, resolve).on('error', reject).end();
    });
    answer.resume();
    expect(answer.statusCode).toBe(405);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });

  test.each([{ method: 'GET' }, { method: 'POST', rawBody: Buffer.from('{}') }])(
    'is aborted when its caller disconnects: $method',
    ({ method, rawBody }) => {
      const leave: (() => void)[] = [];
      const connection = { closed: false, once: (_: string, listener: () => void) => leave.push(listener) };
      const { signal } = toRequest({ method, rawBody, url: '/', headers: {} } as never, connection);
      expect(signal.aborted).toBe(false);
      for (const close of leave) close();
      expect(signal.aborted).toBe(true);
      const late = toRequest({ method: 'GET', url: '/', headers: {} } as never, {
        ...CONNECTED,
        closed: true,
      });
      expect(late.signal.aborted).toBe(true);
    },
  );

  test('an answer to HEAD has no Content-Length for its missing body', async () => {
    const answer = await fetch(`${origin}/head`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, null]);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s keeps every byte of its body', async (method) => {
    const body = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 256));
    const answer = await fetch(`${origin}/a`, { method, body });
    const seen = (await answer.json()) as Seen;
    expect(seen).toMatchObject({ method, sha256: createHash('sha256').update(body).digest('hex') });
  });

  test('keeps path, query and headers', async () => {
    const answer = await fetch(`${origin}/v1/runs/a%2Fb?x=1&x=2&y=%20`, {
      headers: { 'x-own': 'ä', accept: 'a, b' },
    });
    const seen = (await answer.json()) as Seen;
    expect(seen.url).toMatch(/\/v1\/runs\/a%2Fb\?x=1&x=2&y=%20$/);
    expect(seen.headers).toMatchObject({ 'x-own': 'ä', accept: 'a, b' });
  });

  test('cannot make a path look like another host', () => {
    const request = toRequest(
      { method: 'GET', url: '//elsewhere.example/v1', headers: {} } as never,
      CONNECTED,
    );
    expect(new URL(request.url).pathname).toBe('/elsewhere.example/v1');
  });

  test('without a body has none', async () => {
    const request = toRequest({ method: 'POST', url: '/', headers: {} } as never, CONNECTED);
    expect((await request.arrayBuffer()).byteLength).toBe(0);
  });
});

describe('an answer through the adapter', () => {
  test('keeps status, headers and length', async () => {
    const answer = await fetch(`${origin}/a`);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe('/somewhere');
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('content-length')).toBe(String((await answer.arrayBuffer()).byteLength));
  });

  test('that is too large to be buffered is sent in chunks, complete', async () => {
    const answer = await fetch(`${origin}/large`);
    expect(answer.headers.get('content-length')).toBeNull();
    expect(answer.headers.get('transfer-encoding')).toBe('chunked');
    expect(LARGE.equals(new Uint8Array(await answer.arrayBuffer()))).toBe(true);
  });

  test('may be empty', async () => {
    const answer = await fetch(`${origin}/empty`);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('x-own')).toBe('1');
    expect(await answer.text()).toBe('');
  });
});
