/**
 * Cost of a run (caused by one dispatch, one external append, one scan) until it is recorded. The next snapshot of the run
 * records it as an increment, so that several processes may count concurrently without an extra read or write. A cost that is
 * never recorded is lost, so the total never exceeds what was billed.
 */
import { type Cost, NO_COST, sum } from '../../core/cost/cost.ts';
import { OutcomeUnknown } from '../../ports/store-errors.ts';

interface CarryingWrite<T> {
  /** Identifies the write; a repetition of it has the same key. */
  readonly key: string;
  /** Billed cost of the write itself, if it is applied. */
  readonly own: Cost;
  /** Sends the write with the amount to add. */
  readonly send: (carried: Cost) => Promise<T>;
  readonly isApplied: (result: T) => boolean;
}

export class CostCounter {
  #unrecorded: Cost;
  /** Cost carried by writes whose outcome is unknown. */
  readonly #doubtful = new Map<string, Cost>();

  constructor(begun: Cost = NO_COST) {
    this.#unrecorded = begun;
  }

  add(cost: Cost): void {
    this.#unrecorded = sum(this.#unrecorded, cost);
  }

  /**
   * Sends a write that reports all cost, including its own. If an earlier sending has an unknown outcome and a repetition is
   * refused, the earlier one was applied, so its cost is not reported twice.
   */
  async carry<T>({ key, own, send, isApplied }: CarryingWrite<T>): Promise<T> {
    const fresh = this.#unrecorded;
    this.#unrecorded = NO_COST;
    const before = this.#doubtful.get(key);
    const carried = sum(before ?? NO_COST, fresh);
    let result: T;
    try {
      result = await send(sum(carried, own));
    } catch (error) {
      if (error instanceof OutcomeUnknown) this.#doubtful.set(key, carried);
      else this.add(carried);
      throw error;
    }
    this.#doubtful.delete(key);
    if (!isApplied(result)) this.add(before ? fresh : carried);
    return result;
  }
}
