/** Watches the journals of a memory store: tells what is appended in a later step, as a store across a network would. */
import type { RunEvent } from '../core/run/events.ts';
import type { EndObserver, RunObserver, RunWatch } from '../ports/runs/run-watch.ts';

/** The watched part of the store. */
export interface WatchedJournals {
  readEvents(runId: string, afterSeq: number, limit: number): Promise<readonly RunEvent[]>;
  /** Calls back with what each start and commit appends. Returns its end. */
  onAppend(told: (runId: string, events: readonly RunEvent[]) => void): () => void;
}

export class MemoryRunWatch implements RunWatch {
  readonly #store: WatchedJournals;

  constructor(store: WatchedJournals) {
    this.#store = store;
  }

  watch(runId: string, afterSeq: number, observer: RunObserver): () => void {
    let hasStopped = false;
    const stop = () => {
      hasStopped = true;
      leave();
    };
    const tell = (events: readonly RunEvent[]) => {
      if (!hasStopped && events.length > 0) observer.onEvents(events);
    };
    const fail = (error: unknown) => {
      if (hasStopped) return;
      stop();
      observer.onError(error);
    };
    // Existing events are read before anything can be appended, and reported first.
    let telling = this.#store.readEvents(runId, afterSeq, Number.MAX_SAFE_INTEGER).then(tell).catch(fail);
    const leave = this.#store.onAppend((appendedTo, events) => {
      if (appendedTo !== runId) return;
      telling = telling.then(() => tell(events.filter(({ seq }) => seq > afterSeq)));
    });
    return stop;
  }

  watchEnd(runId: string, observer: EndObserver): () => void {
    const stop = this.watch(runId, 0, {
      onEvents(events) {
        if (!events.some(({ type }) => ENDS.has(type))) return;
        stop();
        observer.onEnd();
      },
      onError: (error) => observer.onError(error),
    });
    return stop;
  }
}

const ENDS: ReadonlySet<RunEvent['type']> = new Set(['run_completed', 'run_failed', 'run_cancelled']);
