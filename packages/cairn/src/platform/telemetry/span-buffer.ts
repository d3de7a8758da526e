/**
 * Spans that wait for their collector. Bounded: while the collector is unavailable, the oldest spans are kept and new ones are
 * dropped and counted, because the beginning of an incident is more useful than its middle.
 */
import { SpansRefused } from './sink.ts';
import type { EndedSpan } from './span-tracer.ts';

/** About 1 KiB each. An instance has memory for them; a busy one creates them in some seconds. */
export const MAX_SPANS_KEPT = 4_096;
/** Spans per export request: some hundred KiB. */
export const MAX_SPANS_SENT = 512;

export class SpanBuffer {
  #spans: EndedSpan[] = [];
  #dropped = 0;

  get size(): number {
    return this.#spans.length;
  }

  /** Returns false if the buffer is full. */
  add(span: EndedSpan): boolean {
    const hasRoom = this.#spans.length < MAX_SPANS_KEPT;
    if (hasRoom) this.#spans.push(span);
    else this.#dropped += 1;
    return hasRoom;
  }

  /** Number of spans dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /**
   * Sends the buffered spans, the oldest first. A batch that could not be sent is kept, with all later ones. One that is too large is
   * halved until it fits, and the next ones grow again; one that is permanently refused otherwise is dropped, because it would block all later ones.
   *
   * @throws errors of `send`
   */
  async drain(send: (spans: readonly EndedSpan[]) => Promise<void>): Promise<void> {
    let left = this.#spans.length;
    let most = MAX_SPANS_SENT;
    let refusal: SpansRefused | undefined;
    while (left > 0) {
      const some = this.#spans.slice(0, Math.min(left, most));
      try {
        await send(some);
      } catch (error) {
        if (!(error instanceof SpansRefused)) throw error;
        if (error.isTooLarge && some.length > 1) {
          most = Math.ceil(some.length / 2);
          continue;
        }
        refusal = error;
        this.#dropped += some.length;
      }
      most = Math.min(MAX_SPANS_SENT, most * 2);
      this.#spans.splice(0, some.length);
      left -= some.length;
    }
    if (refusal) throw refusal;
  }
}
