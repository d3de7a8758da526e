/** Types that name the delivery of a dispatch, and the reason why another dispatch took its run over. */

/** A delivery of the queue: two of one task differ in their retry count, which only grows. */
export interface TaskRef {
  /** Unique over all queues. */
  readonly name: string;
  readonly retryCount: number;
}

/**
 * The reason why a lease was taken from its holder. `silence`: no heartbeat came for the length of a lease. `redelivered`: the queue delivered
 * the task again. `answered`: the same, and the queue reports that the previous dispatch answered; its process did not die.
 */
export const TAKEOVERS = ['silence', 'redelivered', 'answered'] as const;
export type Takeover = (typeof TAKEOVERS)[number];

/** Holder whose lease was taken. */
export interface LostHolder {
  readonly owner: string;
  readonly epoch: number;
  readonly lastHeartbeatAt: number;
}
