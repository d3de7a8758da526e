/**
 * Finds out whether a proxy buffers streamed answers. Firebase Hosting does:
 * it passes an answer on when it is complete, so that a stream is silent until it ends. Learned from streams alone.
 */

/** One silent stream may be a cold start. */
const MUTES = 2;
/** The proxy may have changed, or the network was slow. */
const TRY_AGAIN_MS = 600_000;

/** Experience of all streams of the page. */
export class Passage {
  #mutes = 0;
  #wholeUntil = 0;

  /** Answers come when they are whole: streams have to end to be heard. */
  isWholeOnly(): boolean {
    return performance.now() < this.#wholeUntil;
  }

  /** A stream was heard while it was open. */
  spoke(): void {
    this.#mutes = 0;
  }

  /** A stream was open for long enough and was not heard. One that is tried again needs no second one. */
  wasMute(): void {
    this.#mutes += 1;
    if (this.#mutes >= MUTES) this.#wholeUntil = performance.now() + TRY_AGAIN_MS;
  }
}
