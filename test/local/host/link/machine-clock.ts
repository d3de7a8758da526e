/** The clock of the machine in tests of the link. It stands still: a test that loses the processor for a while must not be late. */
import { jest } from '@jest/globals';

const START_NS = 5_000_000_000n;

class MachineClock {
  #now = START_NS;

  /** To be called before each test, and after `useFakeTimers`, which replace the clock. */
  stop(): void {
    this.#now = START_NS;
    jest.spyOn(process.hrtime, 'bigint').mockImplementation(() => this.#now);
  }

  advance(ms: number): void {
    this.#now += BigInt(ms) * 1_000_000n;
  }
}

export const clock = new MachineClock();
