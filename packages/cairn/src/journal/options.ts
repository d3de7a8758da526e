/** Options of a writer of a run's journal. */
import type { RunEvent } from '../core/run/events.ts';
import type { MetadataUpdate } from '../ports/run-store.ts';

/** Receives every durable event in order; may miss events, and receive some twice. Must neither throw nor wait. */
export interface Follower {
  take(events: readonly RunEvent[]): void;
  /** Events up to this seq are published, or have no subscriber, once the events up to `head` are durable. */
  publishedUpTo(head: number): number;
}

/** Reports and log lines of running bodies; written with the next snapshot of the lease holder. */
export interface BodyUpdates {
  /** True if there is streamed text, which must be written with the commit that records the output of its step. */
  readonly isUrgent: boolean;
  /** @param isRelease the commit releases the lease: no body is running after it */
  take(isRelease: boolean): Pick<MetadataUpdate, 'inFlight' | 'running' | 'logged'>;
  /** Returns the updates taken last, which were not written, so that they are taken again. */
  putBack(): void;
}

export interface JournalOptions {
  /** Unique per dispatch; given by a dispatch that holds or is about to take the lease. */
  readonly owner?: string | undefined;
  /** Time by which a heartbeat extends the lease, ms. */
  readonly leaseMs: number;
  /** Shortest time between two coalesced snapshot writes, ms. */
  readonly flushMs: number;
  readonly bodies?: BodyUpdates;
  /** Absent: the next dispatch publishes the events. */
  readonly follower?: Follower | undefined;
  /** Time in ms to retry for an answer (unknown outcomes, foreign appends) before giving up. */
  readonly patienceMs: number;
}
