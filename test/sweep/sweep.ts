/**
 * Sweeps scenarios: performs each undisturbed, then once for each of its crash points, and counts the verdicts.
 *
 * Must not: print, or end the process, which mains and tests do.
 */
import type { Mode } from './calls.ts';
import { assertUndisturbed, duplicatesIn, type Verdict, verdictOn } from './judge.ts';
import type { Outcome } from './outcome.ts';
import { Performance, type PerformanceOptions } from './performance.ts';
import { describePoint, type Point, pairsOf, singlesOf } from './plan.ts';
import type { Scenario } from './scenario.ts';

/** Allowed delay of a performance: two late deliveries of tasks, and half as much for everything else. */
const DELAY_LIMIT_MS = 45 * 60_000;

export interface SweepOptions extends Pick<PerformanceOptions, 'tamper' | 'withoutScan' | 'limitMs'> {
  /** Interval between the tried points. */
  readonly every?: number;
  /** Tries only points with one of these modes. */
  readonly modes?: readonly Mode[];
  /** Tries only one failure at a time. */
  readonly withoutPairs?: boolean;
}

export interface Finding {
  readonly scenario: string;
  readonly point: number;
  readonly where: string;
  readonly verdict: Verdict;
}

/** The last line of the program's output. */
export interface Totals {
  scenarios: number;
  crashPoints: number;
  recovered: number;
  lost: number;
  stuck: number;
  repeatedCompletedSteps: number;
  duplicateEffects: number;
  silentlyDropped: number;
}

export interface Swept {
  readonly totals: Totals;
  /** Bodies that began after their success in a dispatch that could not know of it yet (`VirtualStage.overtaken`). */
  readonly overtakenBodies: number;
  /** Points that did not recover. */
  readonly findings: readonly Finding[];
}

export async function sweep(scenarios: readonly Scenario[], options: SweepOptions = {}): Promise<Swept> {
  const totals: Totals = {
    scenarios: scenarios.length,
    crashPoints: 0,
    recovered: 0,
    lost: 0,
    stuck: 0,
    repeatedCompletedSteps: 0,
    duplicateEffects: 0,
    silentlyDropped: 0,
  };
  const findings: Finding[] = [];
  let overtakenBodies = 0;
  for (const scenario of scenarios) {
    const { points, calls, expected, limitMs } = await rehearse(scenario, options);
    for (let point = 0; point < points.length; point += options.every ?? 1) {
      const planned = points[point] as Point;
      if (!planned.disturbances.some(({ mode }) => options.modes?.includes(mode) ?? true)) continue;
      const performance = await performPoint(scenario, planned, { ...options, limitMs });
      if (!options.tamper) assertSameBeginning(planned, calls, performance);
      const verdict = verdictOn(scenario, performance, expected);
      totals.crashPoints += 1;
      if (verdict.kind === 'recovered') totals.recovered += 1;
      else findings.push({ scenario: scenario.name, point, where: describePoint(planned, calls), verdict });
      if (verdict.kind === 'lost') totals.lost += 1;
      if (verdict.kind === 'stuck') totals.stuck += 1;
      totals.duplicateEffects += duplicatesIn(performance, expected).length;
      if (verdict.kind === 'dropped') totals.silentlyDropped += 1;
      totals.repeatedCompletedSteps += performance.stage.repeated.length;
      overtakenBodies += performance.stage.overtaken.length;
    }
  }
  return { totals, findings, overtakenBodies };
}

export interface Rehearsal {
  readonly expected: Outcome;
  readonly calls: readonly string[];
  readonly points: readonly Point[];
  /** Virtual time in ms after which a disturbed performance counts as stuck. */
  readonly limitMs: number;
}

/** @throws Error if the undisturbed scenario does not end as declared */
export async function rehearse(
  scenario: Scenario,
  { withoutPairs }: Pick<SweepOptions, 'withoutPairs'> = {},
): Promise<Rehearsal> {
  const undisturbed = await performedUndisturbed(scenario);
  if (!scenario.pairs || withoutPairs) return undisturbed;
  const { points: singles } = undisturbed;
  const known = new Map<Point, number>();
  const callsAfter = async (point: Point) => {
    const made = known.get(point) ?? (await performPoint(scenario, point)).calls.made.length;
    known.set(point, made);
    return made;
  };
  return {
    ...undisturbed,
    points: [...singles, ...(await pairsOf(singles, seedOf(scenario.name), callsAfter))],
  };
}

/** Scenarios are deterministic, so several sweeps of a process share their rehearsals. */
const rehearsed = new WeakMap<Scenario, Promise<Rehearsal>>();

/** Returns it with the points for one failure. */
function performedUndisturbed(scenario: Scenario): Promise<Rehearsal> {
  const known = rehearsed.get(scenario);
  if (known) return known;
  const begun = performUndisturbed(scenario);
  rehearsed.set(scenario, begun);
  return begun;
}

async function performUndisturbed(scenario: Scenario): Promise<Rehearsal> {
  const undisturbed = await new Performance(scenario).perform();
  const expected = assertUndisturbed(scenario, undisturbed);
  return {
    expected,
    calls: undisturbed.calls.made,
    points: singlesOf(undisturbed.calls),
    limitMs: undisturbed.durationMs + DELAY_LIMIT_MS,
  };
}

export function performPoint(
  scenario: Scenario,
  point: Point,
  options: SweepOptions = {},
): Promise<Performance> {
  return new Performance(scenario, { ...options, ...point }).perform();
}

/** Up to the failure both performances must be equal; otherwise the number of a call would be no address. */
function assertSameBeginning(
  { disturbances }: Point,
  calls: readonly string[],
  { calls: { made } }: Performance,
): void {
  const first = disturbances[0]?.call ?? 0;
  const at = calls.findIndex((label, call) => call <= first && made[call] !== label);
  if (at >= 0) throw new Error(`not deterministic: call ${at} is ${made[at]}, and was ${calls[at]}`);
}

/** A seed for each scenario that does not depend on the other scenarios. */
function seedOf(name: string): number {
  return [...name].reduce((seed, letter) => (Math.imul(seed, 31) + letter.charCodeAt(0)) | 0, 7);
}
