/**
 * Metrics counted while runs progress. Fed only with durable facts: a transition by the process that appended it, a
 * response by the process that sent it, so that nothing is counted twice. Must not fail or block.
 */
import type { RequestSource } from '../core/decisions/idempotency.ts';
import type { ProblemCode } from '../core/integrity/problems.ts';
import type { RunStatus, TerminalStatus } from '../core/run/status.ts';
import type { DriveReason } from './task-queue.ts';

export interface Transition {
  readonly tenantId: string;
  readonly from: RunStatus;
  readonly to: RunStatus;
}

export interface RunEndMetric {
  readonly tenantId: string;
  readonly type: string;
  readonly status: TerminalStatus;
  readonly durationMs: number;
}

export interface KeyedResponse {
  readonly tenantId: string;
  readonly source: RequestSource;
  /** `hit`: answered with what an earlier request with the key was answered. */
  readonly result: 'hit' | 'miss';
}
export type EffectCallResult =
  /** Done, and recorded. */
  | 'executed'
  /** Answered with an earlier record. */
  | 'reused'
  /** Certainly not done. */
  | 'not_applied'
  | 'in_doubt'
  /** Not made before a person decides, or never. */
  | 'blocked';

export interface EffectMetric {
  readonly tenantId: string;
  readonly capabilityId: string;
  readonly outcome: EffectCallResult;
}

/** An append that lost its place in the journal to another's. */
export interface Conflict {
  readonly tenantId: string;
  /** True if the writer held the lease, and others, such as operators, wrote in between. */
  readonly leased: boolean;
}

export interface DispatchMetric {
  readonly tenantId: string;
  /** End of the dispatch by its {@link publishedName}, or `failed`: the task is redelivered. */
  readonly end: string;
  /** The first one of its instance, including the time to load its modules. */
  readonly cold: boolean;
  readonly durationMs: number;
}

export interface Metrics {
  transition(transition: Transition): void;
  ended(ending: RunEndMetric): void;
  answered(answer: KeyedResponse): void;
  effect(effect: EffectMetric): void;
  conflict(conflict: Conflict): void;
  dispatch(dispatch: DispatchMetric): void;
}

/** A task that was to be put into the queue. */
export interface Enqueue {
  readonly reason: DriveReason;
  readonly result: 'accepted' | 'failed';
}

/** One tick of the scan. */
export interface ScanMetric {
  readonly due: number;
  /** Age of the oldest due time, ms. */
  readonly lagMs: number;
  /** Number of runs by the {@link publishedName} of the action. */
  readonly handled: Readonly<Record<string, number>>;
}

export interface InstallationMetrics {
  enqueue(enqueue: Enqueue): void;
  scan(scan: ScanMetric): void;
}

/** Something wrong with a run, found by a sample. */
export interface FoundProblem {
  readonly tenantId: string;
  readonly code: ProblemCode;
}

/** Counted by a scheduled function only, so that it is no part of what every instance counts. */
export interface ProblemMetrics {
  inconsistent(problem: FoundProblem): void;
}

/** Runs that ended in one way. */
export interface Durations extends Histogram {
  readonly type: string;
  readonly status: TerminalStatus;
}

export interface Histogram {
  readonly count: number;
  readonly sumMs: number;
  /** For each of `DURATION_BOUNDS_MS` how many took that long at most. */
  readonly within: readonly number[];
}

/** Counts of one instance for one tenant since it started. */
export interface TenantCounts {
  readonly transitions: readonly (Omit<Transition, 'tenantId'> & { readonly count: number })[];
  readonly durations: readonly Durations[];
  readonly answers: readonly (Omit<KeyedResponse, 'tenantId'> & { readonly count: number })[];
  readonly effects: readonly (Omit<EffectMetric, 'tenantId'> & { readonly count: number })[];
  readonly conflicts: readonly (Omit<Conflict, 'tenantId'> & { readonly count: number })[];
  readonly dispatches: readonly Dispatches[];
}

/** Drives that ended in one way. */
export interface Dispatches extends Omit<DispatchMetric, 'tenantId' | 'durationMs'>, Histogram {}

export interface CountReader {
  countsOf(tenantId: string): TenantCounts;
}

/** From a step that only computes to a run that waits for people over a weekend. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000,
];

/** Metrics, spans and log events call a deferral `held`, the name that alerts match. */
export function publishedName(name: string): string {
  return name === 'deferred' ? 'held' : name;
}

/** Without a collector: counts nothing. */
export const UNMEASURED: Metrics = {
  transition() {},
  ended() {},
  answered() {},
  effect() {},
  conflict() {},
  dispatch() {},
};
