/**
 * Maps times to positions and back. Pure. Long times without events, for example while a question is open, are
 * compressed to a gap, so that seconds of work beside days of waiting stay visible.
 */

import { duration } from '../../../parts/time.ts';

export interface Interval {
  readonly from: number;
  readonly to: number;
}

export interface Segment extends Interval {
  /** Positions from 0 to 1. */
  readonly start: number;
  readonly end: number;
  /** Compressed. */
  readonly isGap: boolean;
}

/** Least length of a compressed gap, as a share of all busy time, and at least {@link SHORT_MS}. */
const LONG_GAP = 0.5;
const SHORT_MS = 2_000;
/** Width of a shortened gap, as a part of the whole. */
const GAP_WIDTH = 0.09;
/** Greatest share of the width for all gaps together. */
const MAX_GAPS = 0.4;

export class Scale {
  readonly segments: readonly Segment[];

  /** @param busy spans with events; empty: nothing is compressed */
  constructor(whole: Interval, busy: readonly Interval[]) {
    this.segments = segmentsOf({ from: whole.from, to: Math.max(whole.to, whole.from + 1) }, busy);
  }

  /** From 0 to 1; times outside are at the ends. */
  at(ms: number): number {
    const segment = this.#find(({ to }) => ms <= to);
    const { from, to, start, end } = segment;
    const part = Math.min(1, Math.max(0, (ms - from) / (to - from)));
    return start + part * (end - start);
  }

  #find(holds: (segment: Segment) => boolean): Segment {
    return this.segments.find(holds) ?? (this.segments.at(-1) as Segment);
  }
}

function segmentsOf(whole: Interval, busy: readonly Interval[]): Segment[] {
  const gaps = longGaps(whole, merged(whole, busy));
  const busyMs = whole.to - whole.from - spanOf(gaps);
  const each = Math.min(GAP_WIDTH, MAX_GAPS / Math.max(1, gaps.length));
  const perMs = (1 - each * gaps.length) / busyMs;
  const segments: Segment[] = [];
  let at = whole.from;
  let place = 0;
  const push = (to: number, isGap: boolean) => {
    if (to <= at) return;
    const end = isGap ? place + each : place + (to - at) * perMs;
    segments.push({ from: at, to, start: place, end, isGap });
    at = to;
    place = end;
  };
  for (const gap of gaps) {
    push(gap.from, false);
    push(gap.to, true);
  }
  push(whole.to, false);
  return segments;
}

function longGaps(whole: Interval, busy: readonly Interval[]): Interval[] {
  if (busy.length === 0) return [];
  const gaps: Interval[] = [];
  let at = whole.from;
  for (const { from, to } of busy) {
    if (from > at) gaps.push({ from: at, to: from });
    at = to;
  }
  if (whole.to > at) gaps.push({ from: at, to: whole.to });
  const busyMs = spanOf(busy);
  const long = gaps.filter(({ from, to }) => to - from > Math.max(SHORT_MS, LONG_GAP * busyMs));
  // Without busy time between the gaps, nothing is compressed, because the rest would have no width.
  return whole.to - whole.from > spanOf(long) ? long : [];
}

function spanOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { from, to }) => sum + to - from, 0);
}

function merged({ from: first, to: last }: Interval, intervals: readonly Interval[]): Interval[] {
  const sorted = intervals
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, last) }))
    .filter(({ from, to }) => to >= from)
    .sort((a, b) => a.from - b.from);
  const merged: { from: number; to: number }[] = [];
  for (const interval of sorted) {
    const before = merged.at(-1);
    if (before && interval.from <= before.to) before.to = Math.max(before.to, interval.to);
    else merged.push({ ...interval });
  }
  return merged;
}

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
];
const LONG_STEPS_MS = [
  600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000,
];

export interface Tick {
  readonly at: number;
  readonly place: number;
  /** Distance to the next tick, ms, which determines the precision of the label. */
  readonly step: number;
}

/** As {@link duration}, with enough digits to distinguish neighbouring ticks: `2.46s`, `1m 0.5s`, `1h 0m 30s`. */
export function tickText(ms: number, step: number): string {
  if (step >= resolutionOf(ms)) return duration(ms);
  const digits = step % 1_000 === 0 ? 0 : step % 100 === 0 ? 1 : step % 10 === 0 ? 2 : 3;
  const minutes = Math.floor(ms / 60_000);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24];
  const parts = [
    days > 0 && `${days}d`,
    minutes >= 60 && `${hours}h`,
    minutes > 0 && `${minutes % 60}m`,
    step < 60_000 && `${((ms % 60_000) / 1_000).toFixed(digits)}s`,
  ];
  return parts.filter(Boolean).join(' ');
}

/** Least difference that {@link duration} shows, ms. */
function resolutionOf(ms: number): number {
  if (ms < 1_000) return 1;
  if (ms < 10_000) return 100;
  if (ms < 3_600_000) return 1_000;
  return ms < 86_400_000 ? 60_000 : 3_600_000;
}

/**
 * Labels of the axis at round distances from the beginning, none within gaps.
 *
 * @param apart least distance of two labels, as a share of the width
 */
export function ticksOf({ segments }: Scale, from: number, apart: number): Tick[] {
  const ticks: Tick[] = [];
  for (const segment of segments) {
    if (segment.isGap) continue;
    const perMs = (segment.end - segment.start) / (segment.to - segment.from);
    const step = [...STEPS_MS, ...LONG_STEPS_MS].find((ms) => ms * perMs >= apart);
    if (step === undefined) continue;
    const first = from + Math.ceil((segment.from - from) / step) * step;
    // The last label of a segment needs room before the gap. At the edge of the chart, a margin takes half of it.
    const room = segment === segments.at(-1) ? apart / 2 : apart;
    for (let at = first; at <= segment.to; at += step) {
      const place = segment.start + (at - segment.from) * perMs;
      if (segment.end - place >= room && place - (ticks.at(-1)?.place ?? -1) >= apart)
        ticks.push({ at, place, step });
    }
  }
  return ticks;
}
