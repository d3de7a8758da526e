/** Recognises a dispatch by its delivery, and decides how another takes its run over. */

/** A delivery of the queue: two of one task differ in their retry count, which only grows. */
export interface TaskRef {
  /** Unique over all queues. */
  readonly name: string;
  readonly retryCount: number;
}

/**
 * The reason why a lease was taken from its holder: it gave no sign of life for a lease (`silence`), the queue delivered its task
 * again (`redelivered`), or that redelivery said that the dispatch before it had answered (`answered`), which is no death.
 */
export const TAKEOVERS = ['silence', 'redelivered', 'answered'] as const;
export type Takeover = (typeof TAKEOVERS)[number];

/** Holder whose lease was taken. */
export interface Lost {
  readonly owner: string;
  readonly epoch: number;
  readonly lastHeartbeatAt: number;
}
