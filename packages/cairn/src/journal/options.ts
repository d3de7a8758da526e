/** Options of a writer of a run's journal. */
import type { RunEvent } from '../core/run/events.ts';
import type { SoftUpdate } from '../ports/run-store.ts';

/** Receives every durable event in order; may miss some, and receive some twice. Must neither throw nor wait. */
export interface Follower {
  take(events: readonly RunEvent[]): void;
  /** Events up to this seq are published, or heard by nobody, once those up to `head` are durable. */
  publishedUpTo(head: number): number;
}

/** Updates about running bodies, and what they log; written with the next snapshot of the lease holder. */
export interface BodyNews {
  /** Text that a step streamed has to be written with the commit that records its output. */
  readonly isUrgent: boolean;
  /** @param letsGo the commit releases the lease: no body is running after it */
  take(letsGo: boolean): Pick<SoftUpdate, 'inFlight' | 'running' | 'logged'>;
  /** Tells that the news taken last were not written. */
  putBack(): void;
}

export interface JournalOptions {
  /** Unique per dispatch; given by a drive that holds or is about to take the lease. */
  readonly owner?: string;
  /** Time in ms by which a sign of life extends the lease. */
  readonly leaseMs: number;
  /** Shortest time between two coalesced snapshot writes, ms. */
  readonly flushMs: number;
  readonly bodies?: BodyNews;
  /** Absent: events are left to the drive that follows. */
  readonly follower?: Follower;
  /** Time in ms to try for an answer (unknown outcomes, foreign appends) before giving up. */
  readonly patienceMs: number;
}
