import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseTraceparent, traceparentOf } from '../../../packages/cairn/src/core/trace.ts';
import { isSampled, samplingOf } from '../../../packages/cairn/src/platform/telemetry/sampling.ts';
import { type EndedSpan, SpanTracer } from '../../../packages/cairn/src/platform/telemetry/span-tracer.ts';
import { errorTypeOf } from '../../../packages/cairn/src/ports/tracing.ts';
import { seededRandomness } from '../../../packages/cairn/src/testing/world/seeded-randomness.ts';
import { VirtualClock } from '../../../packages/cairn/src/testing/world/virtual-clock.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = { traceId: TRACE, spanId: '00f067aa0ba902b7', sampled: true };
const EVERYTHING = { parentBased: true, ratio: 1 };

function traced(sampling = EVERYTHING) {
  const clock = new VirtualClock();
  const ended: EndedSpan[] = [];
  const onEnd = (span: EndedSpan) => void ended.push(span);
  return { clock, ended, tracer: new SpanTracer({ sampling, clock, random: seededRandomness(1), onEnd }) };
}

describe('a span', () => {
  test('reports its name, its parent and its duration when it ends', () => {
    const { clock, ended, tracer } = traced();
    const span = tracer.open({
      name: 'a',
      kind: 'internal',
      parent: PARENT,
      attributes: { x: 1, none: undefined },
    });
    expect(ended).toEqual([]);
    const startedAt = clock.now();
    clock.jump(250);
    span.set({ x: 2, y: true });
    span.end('EXAMPLE');
    const { context } = span;
    expect(context).toEqual({
      traceId: TRACE,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      sampled: true,
    });
    expect(ended).toEqual([
      {
        name: 'a',
        kind: 'internal',
        context,
        parent: PARENT,
        startedAt,
        endedAt: startedAt + 250,
        links: [],
        attributes: { x: 2, y: true },
        failure: 'EXAMPLE',
      },
    ]);
  });

  test('is reported once, however often it is ended', () => {
    const { ended, tracer } = traced();
    const span = tracer.open({ name: 'a', kind: 'internal' });
    span.end();
    span.end('EXAMPLE');
    expect(ended.map(({ failure }) => failure)).toEqual([undefined]);
  });

  test('without a parent begins a trace of its own', () => {
    const { tracer } = traced();
    const [one, other] = [1, 2].map(() => tracer.open({ name: 'a', kind: 'server' }).context);
    expect(one?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(one?.traceId).not.toBe(other?.traceId);
  });

  test('holds no long text', () => {
    const { ended, tracer } = traced();
    tracer.open({ name: 'a', kind: 'internal', attributes: { text: 'x'.repeat(10_000) } }).end();
    expect(String(ended[0]?.attributes.text).length).toBe(256);
  });

  test('contains no half surrogate pair of a truncated text', () => {
    const { ended, tracer } = traced();
    tracer.open({ name: 'a', kind: 'internal', attributes: { text: `${'x'.repeat(255)}😀` } }).end();
    expect(ended[0]?.attributes.text).toBe(`${'x'.repeat(255)}\ufffd`);
  });

  test('never ends before its start, even by another clock', () => {
    const { clock, ended, tracer } = traced();
    tracer.open({ name: 'a', kind: 'internal', startedAt: clock.now() + 1_000 }).end();
    expect(ended[0]?.endedAt).toBe(ended[0]?.startedAt);
  });
});

describe('the sampling decision of a trace', () => {
  test.each([true, false])('follows that of its caller: %s', (sampled) => {
    for (const ratio of [0, 1]) {
      const { ended, tracer } = traced({ parentBased: true, ratio });
      const span = tracer.open({ name: 'a', kind: 'server', parent: { ...PARENT, sampled } });
      span.end();
      expect([span.context.sampled, ended.length]).toEqual([sampled, sampled ? 1 : 0]);
    }
  });

  test('is propagated with an unsampled trace, so that no part of it is kept', () => {
    const { ended, tracer } = traced({ parentBased: true, ratio: 0 });
    const request = tracer.open({ name: 'a', kind: 'server' });
    const part = tracer.open({ name: 'b', kind: 'internal', parent: request.context });
    part.end();
    expect(traceparentOf(part.context)).toMatch(
      new RegExp(`^00-${request.context.traceId}-[0-9a-f]{16}-00$`),
    );
    expect(ended).toEqual([]);
  });

  test('is the same in every process, wherever the trace begins', () => {
    const hex = fc.stringMatching(/^[0-9a-f]{32}$/);
    fc.assert(
      fc.property(hex, fc.double({ min: 0, max: 1, noNaN: true }), (traceId, ratio) => {
        const sampling = { parentBased: false, ratio };
        const here = isSampled(sampling, { traceId, sampled: true });
        expect(isSampled(sampling, { traceId, sampled: false })).toBe(here);
        expect(isSampled({ parentBased: true, ratio }, { traceId })).toBe(here);
        // A larger share also keeps these traces.
        if (here)
          expect(isSampled({ parentBased: false, ratio: Math.min(1, ratio * 2) }, { traceId })).toBe(true);
      }),
    );
  });

  test.each([0, 0.1, 0.5, 1])('is positive for a share of %d', (ratio) => {
    const random = seededRandomness(7);
    const TRACES = 4_000;
    let kept = 0;
    for (let i = 0; i < TRACES; i += 1)
      if (isSampled({ parentBased: false, ratio }, { traceId: random.token() })) kept += 1;
    expect(Math.abs(kept / TRACES - ratio)).toBeLessThan(ratio === 0 || ratio === 1 ? 1e-9 : 0.03);
  });

  test('is read from the parameters that OpenTelemetry names', () => {
    expect(samplingOf({ sampler: 'traceidratio', ratio: '0.25' })).toEqual({
      parentBased: false,
      ratio: 0.25,
    });
    for (const [sampler, ratio] of [
      ['toString', '1'],
      ['traceidratio', ''],
      ['traceidratio', '-1'],
    ] as const)
      expect(() => samplingOf({ sampler, ratio })).toThrow(/OTEL_TRACES_SAMPLER/);
  });
});

describe('traceparent', () => {
  test.each([
    [`00-${TRACE}-00f067aa0ba902b7-01`, true],
    [`00-${TRACE}-00f067aa0ba902b7-00`, false],
    [`cc-${TRACE}-00f067aa0ba902b7-03-of-later-versions`, true],
  ])('%s is read', (text, sampled) => {
    expect(parseTraceparent(text)).toEqual({ ...PARENT, sampled });
  });

  test.each([
    undefined,
    null,
    '',
    'nonsense',
    `ff-${TRACE}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${TRACE}-00f067aa0ba902b7-01-more`,
    `00-${TRACE}-00f067aa0ba902b7`,
    ` 00-${TRACE}-00f067aa0ba902b7-01`,
  ])('%s is ignored', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  test('is written as it was read', () => {
    for (const sampled of [true, false])
      expect(parseTraceparent(traceparentOf({ ...PARENT, sampled }))).toEqual({ ...PARENT, sampled });
  });
});

test('an error is named by its code or its name, never by its message', () => {
  expect(errorTypeOf(Object.assign(new Error('secret'), { code: 'EXAMPLE' }))).toBe('EXAMPLE');
  expect(errorTypeOf(new TypeError('secret'))).toBe('TypeError');
  expect(errorTypeOf('secret')).toBe('Error');
});
