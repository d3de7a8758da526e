/** Queue that dispatches runs, at least once: a task may be lost, repeated, or delivered early. */
import type { TraceContext } from '../core/trace.ts';

/** The reason for a dispatch. It is only logged; no decision depends on it. */
export type DriveReason =
  | 'start'
  | 'continue'
  | 'lease_expiry'
  | 'retry'
  | 'resume'
  | 'early'
  | 'recovery'
  | 'suspect'
  | 'cleared';

export interface DriveTask {
  readonly runId: string;
  readonly reason: DriveReason;
  /** True for the queue whose dispatches have a process of their own; absent: the queue whose processes serve many. */
  readonly alone?: boolean | undefined;
  /** Drive class of the workflow; absent: workflows without a class. */
  readonly pool?: string | undefined;
  /** Tenant of the run, to choose one of its queues; absent: unknown. */
  readonly tenantId?: string | undefined;
  /** Not before this time, epoch ms; absent: now. */
  readonly at?: number | undefined;
  /**
   * Deduplicates enqueues with the same intent (a hash of run, head and due time). A used name is not accepted again
   * for hours, so it must not identify anything that may become necessary a second time.
   */
  readonly name?: string;
  /**
   * True if the scan enqueues the task in case the worker of the run is dead. If the worker is alive, no task follows this one,
   * because the scan checks the run again.
   */
  readonly watches?: boolean;
  /** A person asked to continue the run, or the run got an answer: the back-off after a failed dispatch or announcement is skipped. `asked` in the task. */
  readonly skipsBackoff?: boolean | undefined;
  /** Span that requests the dispatch; absent: none, or no collector is configured. */
  readonly trace?: TraceContext | undefined;
}

export interface TaskQueue {
  /** Resolves once the task is durable, even if there was one with that name. Throws if that is unknown. */
  enqueue(task: DriveTask): Promise<void>;
}
