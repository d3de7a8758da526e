/** Frozen clock of the machine for tests of the link, so that a test on a busy machine is not late. */
import { jest } from '@jest/globals';

const START_NS = 5_000_000_000n;

class MachineClock {
  #now = START_NS;

  /** Call before each test, and after `useFakeTimers`, which replaces the clock. */
  stop(): void {
    this.#now = START_NS;
    jest.spyOn(process.hrtime, 'bigint').mockImplementation(() => this.#now);
  }

  advance(ms: number): void {
    this.#now += BigInt(ms) * 1_000_000n;
  }
}

export const clock = new MachineClock();
