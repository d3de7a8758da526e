/**
 * Sends the commits of several runs in one request when many are waiting. A request costs the client far more than its
 * documents, so a busy instance executes several times as many runs; an idle one sends each immediately, alone.
 *
 * Must not: change the meaning of a commit. A refused request was not applied at all, so each of its parts is sent
 * again alone and gets its own result; one of unknown outcome leaves every part's outcome unknown (J8).
 */
import type { Timestamp } from '@google-cloud/firestore';
import { leavesOutcomeUnknown } from '../../ports/grpc-outcome.ts';
import type { StoreBatch } from './store-batch.ts';

/** Concurrent requests before commits are combined. */
const MAX_IN_FLIGHT = 8;
/** Commits per request: enough to send all dispatches of a full instance (80) at once. */
const MAX_PARTS = 10;
/** Firestore takes 500 writes and 10 MiB a request; a part of the largest size is sent alone. */
const MAX_WRITES = 400;
const MAX_BYTES = 8 * 1024 * 1024;

/** The writes of one run's commit. */
interface CommitPart {
  /** Number of writes that `fill` adds. */
  readonly writes: number;
  /** Approximate size of the writes. */
  readonly bytes: number;
  readonly fill: (batch: StoreBatch) => void;
}

export interface WriteResult {
  readonly writeTime: Timestamp;
}

interface WaitingPart {
  readonly part: CommitPart;
  readonly done: PromiseWithResolvers<readonly WriteResult[]>;
}

export class CommitCombiner {
  readonly #newBatch: () => StoreBatch;
  readonly #waiting: WaitingPart[] = [];
  #inFlight = 0;

  constructor(newBatch: () => StoreBatch) {
    this.#newBatch = newBatch;
  }

  /** Resolves with the results of the part's own writes, in order. Rejects with Firestore's error. */
  commit(part: CommitPart): Promise<readonly WriteResult[]> {
    const done = Promise.withResolvers<readonly WriteResult[]>();
    this.#waiting.push({ part, done });
    this.#next();
    return done.promise;
  }

  #next(): void {
    while (this.#inFlight < MAX_IN_FLIGHT && this.#waiting.length > 0) {
      this.#inFlight += 1;
      void this.#send(this.#take()).finally(() => {
        this.#inFlight -= 1;
        this.#next();
      });
    }
  }

  /** The first waiting parts, up to the limit of one request; always at least one. */
  #take(): WaitingPart[] {
    let count = 0;
    let writes = 0;
    let bytes = 0;
    for (const { part } of this.#waiting) {
      writes += part.writes;
      bytes += part.bytes;
      if (count > 0 && (count === MAX_PARTS || writes > MAX_WRITES || bytes > MAX_BYTES)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #send(together: readonly WaitingPart[]): Promise<void> {
    const batch = this.#newBatch();
    try {
      for (const { part } of together) part.fill(batch);
      const results = await batch.commit();
      let from = 0;
      for (const { part, done } of together) {
        done.resolve(results.slice(from, from + part.writes));
        from += part.writes;
      }
    } catch (error) {
      if (together.length === 1 || leavesOutcomeUnknown(error)) {
        for (const { done } of together) done.reject(error);
      } else {
        await Promise.all(together.map((one) => this.#send([one])));
      }
    }
  }
}
