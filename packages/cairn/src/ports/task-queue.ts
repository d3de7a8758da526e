/** Queue that dispatches runs. At least once: a task may be lost, repeated, or delivered early. */
import type { TraceContext } from '../core/trace.ts';

/** The reason for a dispatch; for the log only, no decision depends on it. */
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
  /** To the queue whose dispatches have a process of their own; absent: to the one where a process serves many. */
  readonly alone?: boolean | undefined;
  /** Class of workflows that have functions and queues of their own; absent: the queues of all others. */
  readonly pool?: string | undefined;
  /** Tenant of the run, to choose one of its queues; absent: the caller does not know. */
  readonly tenantId?: string | undefined;
  /** Not before this time, epoch ms; absent: now. */
  readonly at?: number | undefined;
  /**
   * Collapses repeated enqueues of the same intent (a hash of run, head and due time). A name that was used once is
   * never accepted again for hours, so it must not name anything that can become necessary a second time.
   */
  readonly name?: string;
  /**
   * True if the scan enqueues it in case the worker of the run is dead. If the worker is alive, no task follows this one,
   * because the scan checks the run again.
   */
  readonly watches?: boolean;
  /** A person asked the run to continue, or it got an answer: the back-off after a failed dispatch or announcement is skipped. `asked` in the task. */
  readonly skipsBackoff?: boolean | undefined;
  /** Span that requests the dispatch; absent: none, or no collector is configured. */
  readonly trace?: TraceContext | undefined;
}

export interface TaskQueue {
  /** Resolves once the task is durable, also when one of that name was there before. Throws if that is not known. */
  enqueue(task: DriveTask): Promise<void>;
}
