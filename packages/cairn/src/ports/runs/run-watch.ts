/**
 * Notifies of new events of a run soon after they are committed. A watch may repeat or skip a notification; the journal is
 * authoritative.
 */
import type { RunEvent, StopKind } from '../../core/run/events.ts';
import type { RunStatus } from '../../core/run/status.ts';
import type { LoadedRun } from '../run-store.ts';

export interface RunObserver {
  /** Events after the asked-for seq that are new to the watch, in the order of their seq. Must not throw. */
  onEvents(events: readonly RunEvent[]): void;
  /** The watch has ended and reports nothing any more. Must not throw. */
  onError(error: unknown): void;
}

export interface EndObserver {
  /** The run was found, before any end; `undefined`: it does not exist, or is marked for deletion. Called once. Must not throw. */
  onFound(run: { readonly tenantId: string } | undefined): void;
  /**
   * The run has ended; the last call, once. Must not throw.
   *
   * @param run as it ended; undefined: too large for the watch, to be loaded
   */
  onEnd(run: LoadedRun | undefined): void;
  /** The watch has ended and reports nothing any more. Must not throw. */
  onError(error: unknown): void;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly stopKind: StopKind | undefined;
}

export interface LogObserver {
  /**
   * The log of the run may have more; called once at the beginning, and perhaps too often. Must not throw.
   *
   * @param ended the run has ended: its log is complete, and no further call follows
   */
  onLogs(ended: RunEnd | undefined): void;
  /** The watch has ended and reports nothing any more. Must not throw. */
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
   * Reports the end of the run, at once if it has ended. A missing run does not end.
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
