/**
 * Detects, from streams alone, a proxy that buffers streamed answers. Firebase Hosting does: a stream is silent until it ends.
 */

/** Silent streams that prove buffering; one may be a cold start. */
const SILENT_STREAMS = 2;
/** Time after which streaming is tried again: the proxy may have changed, or the network was slow. */
const TRY_AGAIN_MS = 600_000;

/** Observations of streams by one path; times are epoch ms. */
export class ProxyBuffering {
  #silent = 0;
  #wholeUntil = 0;

  /** True if the proxy buffers answers, so that data arrives only when a stream ends. */
  isWholeOnly(now: number): boolean {
    return now < this.#wholeUntil;
  }

  /** Data of a stream arrived while it was open. */
  dataArrived(): void {
    this.#silent = 0;
  }

  /** A stream was open for long enough without data. After a retry one observation is enough. */
  wasSilent(now: number): void {
    this.#silent += 1;
    if (this.#silent >= SILENT_STREAMS) this.#wholeUntil = now + TRY_AGAIN_MS;
  }
}
