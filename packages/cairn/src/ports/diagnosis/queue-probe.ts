/** State of the queues that drive runs. */

export interface WatchedQueue {
  /** Under which it is deployed: that of its function. */
  readonly name: string;
  /** The queue is for runs that are dispatched alone. */
  readonly isAlone: boolean;
  /** Function of which this is a further queue; tasks fall back to the function's own queue where this one is missing. */
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
      /** There are more than were counted. */
      readonly isCut: boolean;
      /** When the first of those that are due was to be delivered, epoch ms; absent: none is due. */
      readonly oldestDueAt?: number | undefined;
    }
  | { readonly kind: 'denied' };

export interface QueueProbe {
  /** All queues that drive runs: those of `drive` first, then those of each drive class. */
  readonly queues: readonly WatchedQueue[];
  /** At most one page of tasks. Throws any other answer of the service. */
  inspect(now: number, name: string): Promise<SeenQueue>;
}
