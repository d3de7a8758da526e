/**
 * Metrics counted while runs progress. Only durable facts are reported: a transition by the process that appended it, a
 * response by the process that sent it. So nothing is counted twice. Must not fail or block.
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
  /** `hit`: the response is that of an earlier request with the key. */
  readonly result: 'hit' | 'miss';
}
export type EffectCallResult =
  /** Performed and recorded. */
  | 'executed'
  /** The response is an earlier record. */
  | 'reused'
  /** Certainly not performed. */
  | 'not_applied'
  | 'in_doubt'
  /** Not called before a person decides, or never. */
  | 'blocked';

export interface EffectMetric {
  readonly tenantId: string;
  readonly capabilityId: string;
  readonly outcome: EffectCallResult;
}

/** An append that lost to a concurrent append. */
export interface Conflict {
  readonly tenantId: string;
  /** True if the writer held the lease, and others, such as operators, wrote in between. */
  readonly leased: boolean;
}

export interface DispatchMetric {
  readonly tenantId: string;
  /** End of the dispatch by its {@link publishedName}, or `failed`: the task is redelivered. */
  readonly end: string;
  /** True for the first dispatch of its instance, which includes the time to load modules. */
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

/** An attempt to put a task into the queue. */
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

/** A problem of a run, found by a sample. */
export interface FoundProblem {
  readonly tenantId: string;
  readonly code: ProblemCode;
}

/** Separate, because only a scheduled function counts these. */
export interface ProblemMetrics {
  inconsistent(problem: FoundProblem): void;
}

/** Durations of runs with the same end. */
export interface Durations extends Histogram {
  readonly type: string;
  readonly status: TerminalStatus;
}

export interface Histogram {
  readonly count: number;
  readonly sumMs: number;
  /** For each of `DURATION_BOUNDS_MS`, the number of runs that took at most as long. */
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

/** Dispatches with the same end. */
export interface Dispatches extends Omit<DispatchMetric, 'tenantId' | 'durationMs'>, Histogram {}

export interface CountReader {
  countsOf(tenantId: string): TenantCounts;
}

/** From a run that only computes to one that waits for people over a weekend. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000,
];

/** Metrics, spans and log events call a deferral `held`, because alerts match this name. */
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
