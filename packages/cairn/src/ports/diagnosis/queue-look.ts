/** State of the queues that drive runs. */

/** Each has the name of its function; suspects are in the second. */
export type QueueName = 'drive' | 'driveAlone';

export type SeenQueue =
  | {
      readonly kind: 'seen';
      readonly state: 'running' | 'paused' | 'disabled' | 'unknown';
      readonly tasks: SeenTasks;
    }
  | { readonly kind: 'missing' }
  /** Whoever asks is not allowed to see the queue. */
  | { readonly kind: 'denied' };

export type SeenTasks =
  | {
      readonly kind: 'counted';
      readonly depth: number;
      /** There are more than were counted. */
      readonly isCut: boolean;
      /** When the first of those that are due was to be delivered, epoch ms; absent: none is due. */
      readonly oldestDueAt?: number;
    }
  | { readonly kind: 'denied' };

export interface QueueLook {
  /** One page of tasks at most. Throws what the service answered where it is none of the above. */
  /** The names under which they are deployed; absent: their own. */
  readonly names?: Readonly<Record<QueueName, string>>;
  look(now: number, queue: QueueName): Promise<SeenQueue>;
}
