/** The sizes of reads and commits of all retention work, and the budget that the concurrent work of a `deleteExpired` tick shares. */
import type { Clock } from '../../ports/clock.ts';
import type { Cleared } from '../../ports/runs/retention-store.ts';

/**
 * Runs read of one lineage. At about a kilobyte each, they fit one response of the store. A lineage with more runs is
 * kept, and logged.
 */
export const MAX_MEMBERS = 2_000;
/** Ended runs read at once: an interrupted tick reads that many again. */
export const PAGE = 50;
/** Lineages processed concurrently: each waits for sequential responses of the store. */
export const CONCURRENCY = 8;
/** Documents deleted in one commit: Firestore allows 500 writes, including index entries. */
export const DELETES_A_COMMIT = 250;

/** Limits of one tick; the next one continues. */
export interface TickBounds {
  /** Deleted documents, except the run documents of lineages in progress. */
  readonly documents: number;
  readonly runs: number;
  /** Runs with payloads that are checked. */
  readonly owners: number;
  /** Ms. */
  readonly forMs: number;
}

/**
 * A tick every half hour (index.ts) with these limits deletes about a million documents a day, a twentieth of the capacity of a
 * database. Its time leaves the function two minutes for work in progress.
 */
export const TICK: TickBounds = { documents: 20_000, runs: 5_000, owners: 200, forMs: 420_000 };

/**
 * Part of a tick that erasures may use; runs past their retention period get the rest. Erasures come first, because laws set their
 * date. Without the limit, an erasure of many ticks would stop retention.
 */
export const ERASURES_PART = 3 / 4;

export class TickBudget {
  readonly #clock: Clock;
  readonly #until: number;
  #documents: number;
  #runs: number;

  constructor({ documents, runs, forMs }: Omit<TickBounds, 'owners'>, clock: Clock) {
    this.#clock = clock;
    this.#until = clock.now() + forMs;
    this.#documents = documents;
    this.#runs = runs;
  }

  /**
   * Reserves up to `most` deletions, which are exclusive until they are returned. Grants at most a share, so that all
   * concurrent work continues towards the end of a tick.
   */
  #take(most: number): number {
    const taken = this.isOverdue ? 0 : Math.max(0, Math.min(most, Math.ceil(this.#documents / CONCURRENCY)));
    this.#documents -= taken;
    return taken;
  }

  /**
   * Deletes piece by piece until nothing is left. Returns false if the budget is spent and there may be more.
   *
   * @param onDeleted called with the number of documents of each piece
   */
  async clear(
    piece: (limit: number) => Promise<Cleared>,
    onDeleted: (documents: number) => void,
  ): Promise<boolean> {
    for (;;) {
      const limit = this.#take(DELETES_A_COMMIT);
      if (limit === 0) return false;
      const { deleted, spent = deleted, more } = await piece(limit);
      this.#documents += limit - spent;
      onDeleted(deleted);
      if (!more) return true;
    }
  }

  /** Gives `work` a budget of its own: a part of the remaining one. The unused rest is returned. */
  async within<T>(part: number, work: (budget: TickBudget) => Promise<T>): Promise<T> {
    const documents = Math.ceil(Math.max(0, this.#documents) * part);
    const runs = Math.ceil(Math.max(0, this.#runs) * part);
    const forMs = Math.ceil((this.#until - this.#clock.now()) * part);
    const own = new TickBudget({ documents, runs, forMs }, this.#clock);
    try {
      return await work(own);
    } finally {
      this.#documents -= documents - own.#documents;
      this.#runs -= runs - own.#runs;
    }
  }

  get isSpent(): boolean {
    return this.isOverdue || this.#documents <= 0 || this.#runs <= 0;
  }

  get isOverdue(): boolean {
    return this.#clock.now() >= this.#until;
  }

  deleted(documents: number): void {
    this.#documents -= documents;
  }

  inspected(runs: number): void {
    this.#runs -= runs;
  }
}
