import { expect, test } from '@jest/globals';
import { SpansRefused } from '../../../packages/cairn/src/platform/telemetry/sink.ts';
import { MAX_SPANS_SENT, SpanBuffer } from '../../../packages/cairn/src/platform/telemetry/span-buffer.ts';
import type { EndedSpan } from '../../../packages/cairn/src/platform/telemetry/span-tracer.ts';

const spanOf = (name: string) => ({ name }) as unknown as EndedSpan;

test.each([1, 3, 100, MAX_SPANS_SENT])(
  'a collector that accepts %i spans at a time gets all, except those that are too large alone',
  async (accepted) => {
    const buffer = new SpanBuffer();
    const names = Array.from({ length: MAX_SPANS_SENT + 5 }, (_, at) => (at === 7 ? 'huge' : `s${at}`));
    for (const name of names) buffer.add(spanOf(name));
    const received: string[] = [];
    let requests = 0;
    const send = async (spans: readonly EndedSpan[]) => {
      requests += 1;
      if (spans.length > accepted || spans.some(({ name }) => name === 'huge'))
        throw new SpansRefused('413', { isTooLarge: true });
      received.push(...spans.map(({ name }) => name));
    };
    await expect(buffer.drain(send)).rejects.toThrow('413');
    expect(received).toEqual(names.filter((name) => name !== 'huge'));
    expect([buffer.size, buffer.takeDropped()]).toEqual([0, 1]);
    expect(requests).toBeLessThan(2 * names.length + 20);
  },
);

test('a batch that is refused for another reason is dropped at once', async () => {
  const buffer = new SpanBuffer();
  for (const name of ['a', 'b']) buffer.add(spanOf(name));
  let requests = 0;
  const send = () => {
    requests += 1;
    return Promise.reject(new SpansRefused('400'));
  };
  await expect(buffer.drain(send)).rejects.toThrow('400');
  expect([requests, buffer.takeDropped()]).toEqual([1, 2]);
});
