/** State of the queues that dispatch runs. */

export interface WatchedQueue {
  /** Deployed name, which is that of its function. */
  readonly name: string;
  /** True for a queue of runs that are dispatched alone. */
  readonly isAlone: boolean;
  /** Function of which this is a further queue. If this queue is missing, tasks go to the function's own queue. */
  readonly of?: string;
}

export type SeenQueue =
  | {
      readonly kind: 'seen';
      readonly state: 'running' | 'paused' | 'disabled' | 'unknown';
      readonly tasks: SeenTasks;
    }
  | { readonly kind: 'missing' }
  /** The caller lacks permission to read the queue. */
  | { readonly kind: 'denied' };

export type SeenTasks =
  | {
      readonly kind: 'counted';
      readonly depth: number;
      /** True if there are more than were counted. */
      readonly isCut: boolean;
      /** Delivery time of the first due task, epoch ms; absent if none is due. */
      readonly oldestDueAt?: number | undefined;
    }
  | { readonly kind: 'denied' };

export interface QueueProbe {
  /** All queues that dispatch runs: those of `drive` first, then those of each drive class. */
  readonly queues: readonly WatchedQueue[];
  /** Reads at most one page of tasks. Throws any other error of the service. */
  inspect(now: number, name: string): Promise<SeenQueue>;
}
