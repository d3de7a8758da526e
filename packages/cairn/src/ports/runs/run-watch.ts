/**
 * Notifies of new events of a run soon after they are committed. A watch may repeat or skip a notification; the journal is
 * authoritative.
 */
import type { RunEvent, StopKind } from '../../core/run/events.ts';
import type { RunStatus } from '../../core/run/status.ts';
import type { LoadedRun } from '../run-store.ts';

export interface RunObserver {
  /** New events after the requested sequence number, in order. Must not throw. */
  onEvents(events: readonly RunEvent[]): void;
  /** The watch has failed and reports nothing more. Must not throw. */
  onError(error: unknown): void;
}

export interface EndObserver {
  /** Called once, before any end. `undefined`: the run does not exist, or is marked for deletion. Must not throw. */
  onFound(run: { readonly tenantId: string } | undefined): void;
  /**
   * The run has ended. Called once, last. Must not throw.
   *
   * @param run the ended run; undefined: it is too large for the watch and must be loaded
   */
  onEnd(run: LoadedRun | undefined): void;
  /** The watch has failed and reports nothing more. Must not throw. */
  onError(error: unknown): void;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly stopKind: StopKind | undefined;
}

export interface LogObserver {
  /**
   * The log of the run may have more lines. Called once at the beginning, and possibly too often. Must not throw.
   *
   * @param ended present if the run has ended: its log is complete, and no call follows
   */
  onLogs(ended: RunEnd | undefined): void;
  /** The watch has failed and reports nothing more. Must not throw. */
  onError(error: unknown): void;
}

export interface RunWatch {
  /**
   * Reports events after `afterSeq`, including existing ones. A run that does not exist has none.
   *
   * @returns function that ends the watch; nothing is reported after it
   */
  watch(runId: string, afterSeq: number, observer: RunObserver): () => void;
  /**
   * Reports the end of the run; immediately if it has ended. A missing run does not end.
   *
   * @returns a function that ends the watch; nothing is reported afterwards
   */
  watchEnd(runId: string, observer: EndObserver): () => void;
  /**
   * Reports new log lines and text of the run, and its end.
   *
   * @returns a function that ends the watch; nothing is reported afterwards
   */
  watchLogs(runId: string, observer: LogObserver): () => void;
}
