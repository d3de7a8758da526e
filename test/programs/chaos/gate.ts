/**
 * Holds every call of a port until it is drawn, and loses some answers: a call may be refused without effect, take effect
 * without an answer, or be answered much later.
 *
 * Must not: know the purpose of the calls.
 */
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept, never } from '../../support/intercept.ts';
import type { Draw } from '../data/draw.ts';

interface Held {
  readonly label: string;
  pass(): void;
}

export class Gate {
  readonly #held: Held[] = [];
  readonly #draw: Draw;
  readonly #lossRate: number;
  readonly #lateRate: number;

  /**
   * @param lossRate share of calls whose answer is lost; half of these take effect
   * @param lateRate share of calls whose answer is delayed until it is drawn again
   */
  constructor(draw: Draw, lossRate: number, lateRate = 0) {
    this.#draw = draw;
    this.#lossRate = lossRate;
    this.#lateRate = lateRate;
  }

  get waiting(): number {
    return this.#held.length;
  }

  /** The port as a mortal process sees it: after the death of the process, no call has an effect or an answer. */
  guard<T extends object>(port: T, isAlive: () => boolean): T {
    return intercept(port, async ({ method }, proceed) => {
      if (!isAlive()) return never();
      const answer = await this.#hold(method, () => (isAlive() ? proceed() : never()));
      return isAlive() ? answer : never();
    });
  }

  /** Lets one of the waiting calls through, drawn at random. */
  release(): void {
    const [held] = this.#held.splice(this.#draw.below(this.#held.length), 1);
    held?.pass();
  }

  #hold(method: string, proceed: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#held.push({
        label: method,
        pass: () => {
          const lost = this.#draw.chance(this.#lossRate);
          if (lost && this.#draw.chance(0.5)) return reject(new OutcomeUnknown(method, 'never arrived'));
          const answer = proceed();
          if (!lost && this.#lateRate > 0 && this.#draw.chance(this.#lateRate)) {
            answer.catch(() => {});
            this.#held.push({ label: `answer of ${method}`, pass: () => resolve(answer) });
            return;
          }
          if (!lost) return resolve(answer);
          answer.then(
            () => reject(new OutcomeUnknown(method, 'its answer was lost')),
            (error) => reject(error),
          );
        },
      });
    });
  }
}
