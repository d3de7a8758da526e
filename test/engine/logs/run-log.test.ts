import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_ATTEMPT_BYTES,
  MAX_ATTEMPT_LINES,
  MAX_RUN_LINES,
  MAX_SEGMENT_BYTES,
} from '../../../packages/cairn/src/core/logs/segment.ts';
import { isLogLine } from '../../../packages/cairn/src/core/logs/text.ts';
import { RunLog } from '../../../packages/cairn/src/engine/drive/bodies/run-log.ts';

const at = 1_000;
const logOf = (...before: ConstructorParameters<typeof RunLog>) => {
  const log = new RunLog(...before);
  log.begin(3, []);
  return log;
};
const attempt = (log: RunLog, step = 'a') => {
  const keep = log.of({ step, revision: 1, attempt: 1 });
  return (message: string) => keep({ at, level: 'info', message });
};
const messages = (taken: ReturnType<RunLog['take']>) =>
  taken?.segment?.lines.filter(isLogLine).map(({ message }) => message);

describe('lines of a dispatch', () => {
  test('are written with one snapshot, all steps together, under ids that sort', () => {
    const log = logOf();
    expect(log.take()).toBeUndefined();
    attempt(log, 'a')('one');
    attempt(log, 'b')('two');
    expect(log.take()).toEqual({
      segment: {
        id: '0000000003-000001',
        lines: [expect.objectContaining({ step: 'a' }), expect.objectContaining({ step: 'b' })],
      },
      totals: { lines: 2, bytes: expect.any(Number), dropped: 0 },
    });
    expect(log.take()).toBeUndefined();
    attempt(log)('three');
    expect(log.take()).toMatchObject({ segment: { id: '0000000003-000002' }, totals: { lines: 3 } });
  });

  test('that could not be written are written with the next snapshot, before later ones, under the same id', () => {
    const log = logOf({ lines: 7, bytes: 700, dropped: 2 });
    const first = attempt(log);
    first('one');
    const lost = log.take();
    log.putBack();
    first('two');
    const taken = log.take();
    expect(messages(taken)).toEqual(['one', 'two']);
    expect(taken).toMatchObject({ segment: { id: lost?.segment?.id }, totals: { lines: 9, dropped: 2 } });
    expect(log.take()).toBeUndefined();
  });

  test('are due two seconds after the oldest of them', () => {
    const log = logOf();
    expect(log.dueAt).toBe(Number.POSITIVE_INFINITY);
    attempt(log)('one');
    expect(log.dueAt).toBe(at + 2_000);
    log.take();
    expect(log.dueAt).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('beyond the limits', () => {
  test('an attempt has one line that says so, and the others are counted', () => {
    const log = logOf();
    const write = attempt(log);
    for (let n = 0; n < MAX_ATTEMPT_LINES + 5; n += 1) write('x');
    const { segment, totals } = log.take() ?? {};
    expect(segment?.lines).toHaveLength(MAX_ATTEMPT_LINES + 1);
    expect(segment?.lines.at(-1)).toMatchObject({ kind: 'dropped', level: 'warn', step: 'a' });
    expect(totals?.dropped).toBe(5);
    write('y');
    expect(log.take()).toEqual({ totals: { ...totals, dropped: 6 } });
    attempt(log, 'b')('another attempt has room');
    expect(messages(log.take())).toEqual(['another attempt has room']);
  });

  test('an attempt of long lines is limited by bytes', () => {
    const log = logOf();
    const write = attempt(log);
    for (let n = 0; n < 500; n += 1) write('ü'.repeat(2_000));
    const { totals } = log.take() ?? {};
    expect(totals?.bytes).toBeLessThanOrEqual(MAX_ATTEMPT_BYTES + 1_000);
    expect(totals?.dropped).toBeGreaterThan(0);
  });

  test('a run keeps no more lines, and counts the dropped ones', () => {
    const log = logOf({ lines: MAX_RUN_LINES, bytes: 1, dropped: 0 });
    attempt(log)('x');
    expect(log.take()).toEqual({ totals: { lines: MAX_RUN_LINES, bytes: 1, dropped: 1 } });
  });

  test('every document has room for its lines, whatever was logged, lost and retried', () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('log' as const),
        of: fc.nat(40),
        chars: fc.nat(2_000),
        times: fc.nat(300),
      }),
      fc.constant({ kind: 'take' as const }),
      fc.constant({ kind: 'lose' as const }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const log = logOf();
        const attempts = Array.from({ length: 41 }, (_, n) => attempt(log, `s${n}`));
        let kept = 0;
        let logged = 0;
        let totals = { lines: 0, bytes: 0, dropped: 0 };
        const take = () => {
          const taken = log.take();
          const lines = taken?.segment?.lines ?? [];
          expect(Buffer.byteLength(JSON.stringify(lines))).toBeLessThanOrEqual(MAX_SEGMENT_BYTES + 50_000);
          return { taken, lines };
        };
        for (const one of steps) {
          if (one.kind === 'log') {
            for (let n = 0; n < one.times; n += 1) attempts[one.of]?.('x'.repeat(one.chars));
            logged += one.times;
            continue;
          }
          const { taken, lines } = take();
          if (one.kind === 'lose') log.putBack();
          else {
            kept += lines.filter(({ kind }) => kind === 'log').length;
            totals = taken?.totals ?? totals;
          }
        }
        for (;;) {
          const { taken, lines } = take();
          if (!taken) break;
          kept += lines.filter(({ kind }) => kind === 'log').length;
          totals = taken.totals;
        }
        expect(kept + totals.dropped).toBe(logged);
      }),
      { numRuns: 50 },
    );
  });
});
