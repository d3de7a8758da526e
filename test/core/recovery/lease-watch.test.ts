import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  isSilent,
  LATE_HEARTBEAT_MS,
  LEAST_SILENCE_MS,
  type LeaseTimes,
  WATCH_MARGIN_MS,
  watchAt,
  watchedHeartbeats,
} from '../../../packages/cairn/src/core/recovery/lease-watch.ts';
import { LOCAL_SETTINGS, PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { longestSilence } from './longest-silence.ts';

const TICK_MS = 60_000;
/** Maximum delay of a tick. */
const LATE_TICK_MS = 1_000;
const { leaseMs, heartbeatMs } = PRODUCTION_SETTINGS;
const NOW = 1_000_000;

function isWatched(lastHeartbeatAt: number, now: number, times: LeaseTimes): boolean {
  const { after, until } = watchedHeartbeats(now, times);
  return lastHeartbeatAt > after && lastHeartbeatAt <= until;
}

describe('a lease is watched', () => {
  test.each([
    ['not while the worker is not late', heartbeatMs, false],
    ['not while its heartbeat may be on its way', heartbeatMs + LATE_HEARTBEAT_MS - 1, false],
    ['once a heartbeat is missed', heartbeatMs + LATE_HEARTBEAT_MS, true],
    ['until it ends', leaseMs - 1, true],
    ['not when it has ended: the run is due', leaseMs, false],
  ])('%s', (_, silence, expected) => {
    expect(isWatched(NOW - silence, NOW, PRODUCTION_SETTINGS)).toBe(expected);
  });

  test('never, if it is shorter than the time between two heartbeats', () => {
    const { after, until } = watchedHeartbeats(NOW, { leaseMs: 5_000, heartbeatMs: 25_000 });
    expect(until).toBeLessThan(after);
  });
});

describe('a worker is reported as silent', () => {
  test('never during its heartbeats, and before the end of its lease without them', () => {
    const silence = fc.integer({ min: 0, max: 2 * leaseMs });
    fc.assert(
      fc.property(silence, fc.constantFrom(PRODUCTION_SETTINGS, LOCAL_SETTINGS), (ms, times) => {
        const isReported = isSilent(NOW + ms, NOW, times);
        if (ms <= times.heartbeatMs + LATE_HEARTBEAT_MS || ms <= LEAST_SILENCE_MS)
          expect(isReported).toBe(false);
        if (ms >= times.leaseMs / 2) expect(isReported).toBe(true);
      }),
    );
  });
});

/** Time from a death to the dispatch or recovery, with a tick every minute, each up to `late` ms late. */
function silenceAfter(
  death: { lastBeat: number; at: number },
  lateOf: (tick: number) => number,
  times: LeaseTimes,
) {
  for (let tick = Math.floor(death.at / TICK_MS); ; tick += 1) {
    const now = tick * TICK_MS + lateOf(tick);
    if (now <= death.at) continue;
    if (isWatched(death.lastBeat, now, times)) return watchAt(death.lastBeat, times) - death.at;
    if (now >= death.lastBeat + times.leaseMs) return now - death.at;
  }
}

test('whenever a worker dies and whenever the ticks come, its run is dispatched within the bound', () => {
  const time = fc.integer({ min: 0, max: 10 * TICK_MS });
  const late = fc.array(fc.integer({ min: 0, max: LATE_TICK_MS }), { minLength: 20, maxLength: 20 });
  const settings = fc.constantFrom(PRODUCTION_SETTINGS, LOCAL_SETTINGS);
  fc.assert(
    fc.property(
      time,
      fc.double({ min: 0, max: 1, noNaN: true }),
      late,
      settings,
      (lastBeat, share, lates, times) => {
        const at = lastBeat + Math.floor(share * times.heartbeatMs);
        const silence = silenceAfter({ lastBeat, at }, (tick) => lates[tick % lates.length] ?? 0, times);
        expect(silence).toBeLessThanOrEqual(longestSilence(times, TICK_MS + LATE_TICK_MS));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a deployed run begins its next step within 90 s of a death, including two cold starts', () => {
  const coldStartMs = 2_000;
  // The longest case is a run found due, which the tick recovers with one cold start.
  expect(heartbeatMs + LATE_HEARTBEAT_MS + TICK_MS + LATE_TICK_MS + coldStartMs).toBeLessThan(90_000);
  expect(leaseMs + WATCH_MARGIN_MS + 2 * coldStartMs).toBeLessThan(90_000);
  expect(longestSilence(PRODUCTION_SETTINGS, TICK_MS + LATE_TICK_MS)).toBe(87_000);
});

test('a lease survives three lost heartbeats', () => {
  expect(3 * heartbeatMs).toBeLessThan(leaseMs);
});
