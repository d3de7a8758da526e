import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { World } from '../../../packages/cli/src/world.ts';
import { framesOf } from '../../../packages/client/src/server-sent-events.ts';
import { listening, saying } from '../support/stage.ts';

const RUN = { id: 'run_1', createdAt: '2026-01-01T00:00:00.000Z', head: 9, waits: [] };

const frame = (seq: number, type = 'run_resumed', data: object = { reason: 'r' }) =>
  `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, type, at: `2026-01-01T00:00:0${seq}.000Z`, initiator: 'system', data })}\n\n`;
const end = (status: string) => `event: end\ndata: {"status":"${status}"}\n\n`;

type Stream =
  | string
  | { readonly cutAfter: string }
  /** Sends only comments, then an error after the given time. */
  | { readonly cutAfterMs: number }
  | { readonly status: number; readonly code: string }
  | 'nobody'
  /** Delivered when it ends, which takes long. */
  | 'mute';

/** Serves the streams in order, and records the requests. */
function server(...streams: readonly Stream[]) {
  const from: (string | null)[] = [];
  const targets: string[] = [];
  const fetch: World['fetch'] = async (url, init) => {
    if (!url.includes('/stream')) return Response.json(RUN);
    targets.push(new URL(url).search);
    from.push(new Headers(init.headers).get('last-event-id'));
    const stream = streams[Math.min(from.length, streams.length) - 1] as Stream;
    if (stream === 'nobody')
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    if (stream === 'mute')
      return new Promise((_resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      });
    if (typeof stream === 'string') return new Response(`retry: 1000\n\n${stream}`);
    if ('status' in stream)
      return Response.json({ title: 'No', detail: 'no', ...stream }, { status: stream.status });
    return new Response('cutAfterMs' in stream ? quiet(stream.cutAfterMs) : cut(stream.cutAfter));
  };
  const env = { CAIRN_URL: 'https://a.test', CAIRN_API_KEY: 'k' };
  return { from, targets, world: listening({ fetch, env }) };
}

function cut(text: string): ReadableStream<Uint8Array> {
  const chunks = [new TextEncoder().encode(text)];
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.error(new Error('terminated'));
    },
  });
}

function quiet(lastsMs: number): ReadableStream<Uint8Array> {
  const comment = new TextEncoder().encode(': quiet\n\n');
  return new ReadableStream({
    start(controller) {
      controller.enqueue(comment);
      setTimeout(() => controller.enqueue(comment), lastsMs - 1);
      setTimeout(() => controller.error(new Error('terminated')), lastsMs);
    },
  });
}

const WATCH = ['runs', 'watch', 'run_1', '--json'];
const seqs = (out: string) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { seq: number }).seq);

describe('watching a run', () => {
  test.each([
    ['completed', 0],
    ['failed', 1],
    ['cancelled', 6],
  ])('that ends as %s exits with %d', async (status, code) => {
    const { world } = server(frame(1) + frame(2) + end(status));
    const output = await saying(WATCH, world);
    expect([output.code, seqs(output.out)]).toEqual([code, [1, 2]]);
  });

  test('continues after an interruption, and shows each event once', async () => {
    const { from, world } = server(
      frame(1) + frame(2),
      { cutAfter: `${frame(2)}${frame(3)}id: 4\nevent: run_res` },
      'nobody',
      { status: 503, code: 'UNAVAILABLE' },
      frame(4) + end('completed'),
    );
    const output = await saying(WATCH, world);
    expect(seqs(output.out)).toEqual([1, 2, 3, 4]);
    expect(from).toEqual(['0', '2', '3', '3', '3']);
    expect(output.code).toBe(0);
  });

  test('goes on if the waits of the run cannot be read', async () => {
    const { world } = server(frame(1) + frame(2, 'run_suspended') + frame(3) + end('completed'));
    let reads = 0;
    const fetch: World['fetch'] = async (url, init) => {
      if (url.includes('/stream') || ++reads === 1) return world.fetch(url, init);
      return Response.json(
        { title: 'No', detail: 'not now', status: 500, code: 'INTERNAL' },
        { status: 500 },
      );
    };
    const env = { CAIRN_URL: 'https://a.test', CAIRN_API_KEY: 'k' };
    const output = await saying(['runs', 'watch', 'run_1'], listening({ fetch, env, isTty: true }));
    expect(output.code).toBe(0);
    expect(output.err).toContain('its waits could not be read: INTERNAL: not now');
    expect(reads).toBeGreaterThan(1);
  });

  test('polls if answers arrive only when they are complete', async () => {
    jest.useFakeTimers();
    try {
      const { from, targets, world } = server('mute', frame(1), 'mute', '', frame(2) + end('completed'));
      const watching = saying(WATCH, world);
      await jest.advanceTimersByTimeAsync(2 * 5_000 + 100);
      const output = await watching;
      expect([output.code, seqs(output.out), output.err]).toEqual([0, [1, 2], '']);
      expect(targets).toEqual(['', '?follow=false', '', '?follow=false', '?follow=false']);
      expect(from).toEqual(['0', '0', '1', '1', '1']);
    } finally {
      jest.useRealTimers();
    }
  });

  test('follows a stream that was silent once, while its instance started', async () => {
    jest.useFakeTimers();
    try {
      const { targets, world } = server('mute', '', frame(1) + end('completed'));
      const watching = saying(WATCH, world);
      await jest.advanceTimersByTimeAsync(5_000 + 100);
      expect((await watching).code).toBe(0);
      expect(targets).toEqual(['', '?follow=false', '']);
    } finally {
      jest.useRealTimers();
    }
  });

  test('begins after the named event', async () => {
    const { from, world } = server(frame(8) + end('completed'));
    await saying([...WATCH, '--after', '7'], world);
    expect(from).toEqual(['7']);
  });

  test('gives up after many consecutive failures, and at once after a refusal', async () => {
    const gone = server('nobody');
    expect(await saying(WATCH, gone.world)).toMatchObject({
      code: 4,
      err: expect.stringContaining('ECONNREFUSED'),
    });
    expect(gone.from).toHaveLength(15);
    const empty = server({ cutAfter: '' });
    expect((await saying(WATCH, empty.world)).code).toBe(4);
    const refused = server({ status: 404, code: 'RUN_NOT_FOUND' });
    expect((await saying(WATCH, refused.world)).code).toBe(3);
    expect(refused.from).toHaveLength(1);
  });

  test('continues if a proxy repeatedly cuts the streams of an idle run', async () => {
    jest.useFakeTimers();
    try {
      const cuts = Array.from({ length: 20 }, () => ({ cutAfterMs: 30_000 }));
      const { from, world } = server(...cuts, frame(1) + end('completed'));
      const watching = saying(WATCH, { ...world, now: () => Date.now() });
      await jest.advanceTimersByTimeAsync(cuts.length * 35_000);
      expect((await watching).code).toBe(0);
      expect(from).toHaveLength(cuts.length + 1);
    } finally {
      jest.useRealTimers();
    }
  });

  test('prints a line for each event, and reports an interruption', async () => {
    const { world } = server({ cutAfter: frame(1) }, frame(2) + end('completed'));
    const { out, err } = await saying(['runs', 'watch', 'run_1'], world);
    expect(out.split('\n').filter(Boolean)).toEqual([
      expect.stringMatching(/^ {4}1 {4}\+1\.000s {2}▶ resumed {2}r$/),
      expect.stringMatching(/^ {4}2 {4}\+2\.000s {2}▶ resumed {2}r$/),
    ]);
    expect(err).toContain('(connection lost: terminated; reconnecting)');
    expect(err).toContain('completed\n');
  });
});

describe('server-sent events', () => {
  const text =
    ': quiet\n\nretry: 5\n\nid: 1\nevent: a\ndata: {"x":\ndata: 1}\n\r\ndata:no blank\r\n\r\nid: 2\ndata: cut off';

  test('are read however the bytes are split', async () => {
    const bytes = new TextEncoder().encode(`${text.replace('{"x":', '{"é🜂":')}`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), async (sizes) => {
        expect(await framesIn(bytes, sizes)).toEqual([
          { id: '1', event: 'a', data: '{"é🜂":\n1}' },
          { id: undefined, event: undefined, data: 'no blank' },
        ]);
      }),
      { numRuns: 50 },
    );
  });

  async function framesIn(bytes: Uint8Array, sizes: readonly number[]) {
    let at = 0;
    let turn = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        const size = sizes[turn % sizes.length] ?? 1;
        turn += 1;
        controller.enqueue(bytes.slice(at, at + size));
        at += size;
      },
    });
    const frames: unknown[] = [];
    for await (const one of framesOf(body)) frames.push(one);
    return frames;
  }
});
