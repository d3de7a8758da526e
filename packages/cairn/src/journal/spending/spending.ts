/**
 * Spending on a run (by one dispatch, one external append, one scan) until it is recorded. It is recorded with the next
 * snapshot of the run as an increment, so that several may spend concurrently and no extra read or write is made.
 * Spending that is never recorded is lost: the total never exceeds what was billed.
 */
import { NOTHING, type Spent, sum } from '../../core/cost/cost.ts';
import { OutcomeUnknown } from '../../ports/store-errors.ts';

interface CarryingWrite<T> {
  /** Identifies the write; a repetition of it has the same key. */
  readonly key: string;
  /** Billed cost of the write itself, if it is applied. */
  readonly own: Spent;
  /** Sends it with the amount that is to be added. */
  readonly send: (carried: Spent) => Promise<T>;
  readonly isApplied: (result: T) => boolean;
}

export class Spending {
  #unrecorded: Spent;
  /** Spending carried by writes whose outcome is unknown. */
  readonly #doubtful = new Map<string, Spent>();

  constructor(begun: Spent = NOTHING) {
    this.#unrecorded = begun;
  }

  add(spent: Spent): void {
    this.#unrecorded = sum(this.#unrecorded, spent);
  }

  /**
   * Sends a write that reports all spending, including its own. If a first sending may have been applied and a second
   * is refused, the first was applied: its spending is not reported twice.
   */
  async carry<T>({ key, own, send, isApplied }: CarryingWrite<T>): Promise<T> {
    const fresh = this.#unrecorded;
    this.#unrecorded = NOTHING;
    const before = this.#doubtful.get(key);
    const carried = sum(before ?? NOTHING, fresh);
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
