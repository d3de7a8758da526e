/**
 * Finds out whether a proxy buffers streamed answers. Firebase Hosting does: it passes an answer on when it is complete, so that a
 * stream is silent until it ends. Learned from streams alone.
 */

/** A single silent stream may be a cold start. */
const MUTES = 2;
/** The proxy may have changed, or the network was slow. */
const TRY_AGAIN_MS = 600_000;

/** Observations of streams by one way; times are epoch ms. */
export class ProxyBuffering {
  #mutes = 0;
  #wholeUntil = 0;

  /** True: the proxy buffers answers, so streams are received when they end. */
  isWholeOnly(now: number): boolean {
    return now < this.#wholeUntil;
  }

  /** Data of a stream arrived while it was open. */
  spoke(): void {
    this.#mutes = 0;
  }

  /** A stream was open for long enough without data. A retry needs no second observation. */
  wasMute(now: number): void {
    this.#mutes += 1;
    if (this.#mutes >= MUTES) this.#wholeUntil = now + TRY_AGAIN_MS;
  }
}
