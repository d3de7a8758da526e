/**
 * Whether what stands between this page and the API lets an answer through while it is made. Firebase Hosting does not:
 * it hands an answer on when it is whole, so that a stream says nothing until it ends. Knows that from streams alone.
 */

/** One may be an instance that has to begin. */
const MUTES = 2;
/** What is in between may have changed, or it was the network after all. */
const TRY_AGAIN_MS = 600_000;

/** What the streams of one page have found, together. */
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
