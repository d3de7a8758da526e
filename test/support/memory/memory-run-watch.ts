/** Watches the journals of a memory store. Reports appended events asynchronously, like a store across a network. */
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { RunStatus } from '../../../packages/cairn/src/core/run/status.ts';
import type { LoadedRun } from '../../../packages/cairn/src/ports/run-store.ts';
import type {
  EndObserver,
  LogObserver,
  RunEnd,
  RunObserver,
  RunWatch,
} from '../../../packages/cairn/src/ports/runs/run-watch.ts';

/** The watched part of the store. */
export interface WatchedJournals {
  load(runId: string): Promise<LoadedRun | undefined>;
  readEvents(runId: string, afterSeq: number, limit: number): Promise<readonly RunEvent[]>;
  /** Calls back with the events of each start and commit, and with none for logged lines. Returns a function that stops it. */
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
    let hasStopped = false;
    let hasFound = false;
    const stop = () => {
      hasStopped = true;
      leave();
    };
    const look = async () => {
      if (hasStopped) return;
      const run = await this.#store.load(runId);
      if (hasStopped) return;
      if (!hasFound) {
        hasFound = true;
        observer.onFound(run?.metadata.deletionMarkedAt === undefined ? run?.state : undefined);
      }
      if (hasStopped || !run || !isOver(run.state)) return;
      stop();
      observer.onEnd(run);
    };
    const fail = (error: unknown) => {
      if (hasStopped) return;
      stop();
      observer.onError(error);
    };
    let looking = look().catch(fail);
    const leave = this.#store.onAppend((appendedTo) => {
      if (appendedTo === runId) looking = looking.then(look).catch(fail);
    });
    return stop;
  }

  watchLogs(runId: string, observer: LogObserver): () => void {
    let hasStopped = false;
    const stop = () => {
      hasStopped = true;
      leave();
    };
    const tell = (events: readonly RunEvent[]) => {
      if (hasStopped) return;
      const ended = endIn(events);
      if (ended) stop();
      observer.onLogs(ended);
    };
    let telling = this.#store
      .readEvents(runId, 0, Number.MAX_SAFE_INTEGER)
      .then(tell)
      .catch((error: unknown) => {
        if (hasStopped) return;
        stop();
        observer.onError(error);
      });
    const leave = this.#store.onAppend((appendedTo, events) => {
      if (appendedTo === runId) telling = telling.then(() => tell(events));
    });
    return stop;
  }
}

const ENDS: ReadonlyMap<RunEvent['type'], RunStatus> = new Map([
  ['run_completed', 'completed'],
  ['run_failed', 'failed'],
  ['run_cancelled', 'cancelled'],
]);

function endIn(events: readonly RunEvent[]): RunEnd | undefined {
  for (const event of events) {
    const status = ENDS.get(event.type);
    if (status === undefined) continue;
    return { status, stopKind: event.type === 'run_cancelled' ? event.data.stopKind : undefined };
  }
  return undefined;
}
