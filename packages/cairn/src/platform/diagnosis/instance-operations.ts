/**
 * Billed operations of this instance, in memory: since it started, and in the last minute.
 *
 * Must not: grow with the work; a minute has sixty numbers per kind.
 */
import type { Clock } from '../../ports/clock.ts';
import type { BilledOperations, OperationReader, OperationTally } from '../../ports/diagnosis/operations.ts';

const SECONDS = 60;

interface Second {
  /** Seconds since the epoch. */
  at: number;
  billed: BilledOperations;
}

const NOTHING: BilledOperations = { reads: 0, writes: 0, deletes: 0 };

export class InstanceOperations implements OperationTally, OperationReader {
  readonly since: number;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ring: Second[] = Array.from({ length: SECONDS }, () => ({ at: 0, billed: NOTHING }));
  #total = NOTHING;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.since = clock.now();
  }

  billed(operations: BilledOperations): void {
    this.#total = sum(this.#total, operations);
    const at = this.#second();
    const second = this.#ring[at % SECONDS];
    if (!second) return;
    second.billed = second.at === at ? sum(second.billed, operations) : operations;
    second.at = at;
  }

  total(): BilledOperations {
    return this.#total;
  }

  lastMinute(): BilledOperations {
    const now = this.#second();
    return this.#ring
      .filter(({ at }) => at > now - SECONDS && at <= now)
      .reduce((all, { billed }) => sum(all, billed), NOTHING);
  }

  #second(): number {
    return Math.floor(this.#clock.now() / 1_000);
  }
}

function sum(a: BilledOperations, b: BilledOperations): BilledOperations {
  return { reads: a.reads + b.reads, writes: a.writes + b.writes, deletes: a.deletes + b.deletes };
}
