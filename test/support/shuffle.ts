/**
 * Runs several pieces of real code concurrently in a random order from a seed. Every call of a gated port waits until it is
 * drawn, and its answer may be lost. For programs that are too large for the explorer.
 *
 * Must not: know what the code does.
 */
import type { Randomness } from '../../packages/cairn/src/ports/randomness.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from './intercept.ts';
import { settle, type VirtualClock } from './virtual-clock.ts';
import { seededRandomness } from './world.ts';

export interface ShuffleOptions {
  readonly seed: number;
  readonly clock: VirtualClock;
  /** Share of calls whose answer is lost; half of these calls are applied. */
  readonly lossRate?: number;
}

export type Settled<T> = PromiseSettledResult<T>;

/** More than any of these programs needs, to detect an endless one. */
const MAX_TURNS = 5_000;

export class Shuffle {
  readonly #waiting: (() => void)[] = [];
  readonly #random: Randomness;
  readonly #options: ShuffleOptions;

  constructor(options: ShuffleOptions) {
    this.#options = options;
    this.#random = seededRandomness(options.seed);
  }

  gate<T extends object>(port: T): T {
    const { lossRate = 0 } = this.#options;
    return intercept(
      port,
      ({ method }, proceed) =>
        new Promise((resolve, reject) => {
          this.#waiting.push(async () => {
            const lost = this.#random.unit() < lossRate;
            if (lost && this.#random.unit() < 0.5) return reject(new OutcomeUnknown(method, 'never arrived'));
            try {
              const answer = await proceed();
              if (lost) reject(new OutcomeUnknown(method, 'answer lost'));
              else resolve(answer);
            } catch (error) {
              reject(error);
            }
          });
        }),
    );
  }

  /** Releases calls until all work has settled; time moves only when no call waits. */
  async run<T>(works: readonly Promise<T>[]): Promise<Settled<T>[]> {
    let ended = false;
    const all = Promise.allSettled(works).finally(() => {
      ended = true;
    });
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await settle();
      if (ended) return all;
      const [next] = this.#waiting.splice(Math.floor(this.#random.unit() * this.#waiting.length), 1);
      if (next) next();
      else if (!this.#options.clock.fireNext()) throw new Error('nothing can go on');
    }
    throw new Error(`not ended after ${MAX_TURNS} turns`);
  }
}
