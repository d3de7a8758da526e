/**
 * Detects that the code of a flow waits: two turns of the event loop have passed in which it got no answer and asked for no operation.
 * Then it is quiet, and what it waits for is an operation or something else.
 */
import type { Clock } from '../../../ports/clock.ts';
import type { FlowObserver } from '../../define/steps.ts';

const QUIET_TURNS = 2;
/** Promises between an answer and the next question: three for each nested call. */
const PROMISES = 64;

interface QuietDetectorParams {
  readonly clock: Clock;
  readonly onQuiet: () => void;
  /** Receives what {@link onQuiet} throws. */
  readonly guard: (work: Promise<void>) => void;
  /** The code waits for operations that have not ended. */
  readonly isWaiting: () => boolean;
  readonly observer: FlowObserver | undefined;
}

export class QuietDetector {
  readonly #params: QuietDetectorParams;
  #quietTurns = 0;
  #isWatching = false;
  #isOver = false;
  #settled: (() => void) | undefined;

  constructor(params: QuietDetectorParams) {
    this.#params = params;
  }

  get isQuiet(): boolean {
    return this.#isOver || !this.#isWatching;
  }

  /** Resolves at the next turn, when all promises that can settle have done so. */
  afterTurn(): Promise<void> {
    return new Promise((resolve) => void this.#params.clock.timer(0, resolve));
  }

  /** Resolves when code that received an answer has most probably asked for its next operation: cheaper than a turn. */
  async afterPromises(): Promise<void> {
    for (let i = 0; i < PROMISES; i += 1) await undefined;
  }

  noteActivity(): void {
    this.#quietTurns = 0;
    if (this.#isWatching || this.#isOver) return;
    this.#isWatching = true;
    this.#signalBusy();
    this.#params.guard(this.#watch());
  }

  end(): void {
    this.#isOver = true;
    this.#signalQuiet();
  }

  async #watch(): Promise<void> {
    while (this.#quietTurns < QUIET_TURNS && !this.#isOver) {
      await this.afterTurn();
      this.#quietTurns += 1;
    }
    this.#isWatching = false;
    if (this.#params.isWaiting()) this.#signalQuiet();
    if (!this.#isOver) this.#params.onQuiet();
  }

  #signalBusy(): void {
    const { observer } = this.#params;
    if (!observer || this.#settled) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled = resolve;
    observer.busy(promise);
  }

  #signalQuiet(): void {
    this.#settled?.();
    this.#settled = undefined;
  }
}
