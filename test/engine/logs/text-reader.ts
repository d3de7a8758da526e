/** A reader of a run's log whose connection is cut at times, and that continues after its last line. */
import { isLogLine } from '../../../packages/cairn/src/core/logs/text.ts';
import type { Position } from '../../../packages/cairn/src/core/search/cursor.ts';
import { followLogs } from '../../../packages/cairn/src/operations/follow/follow-logs.ts';
import type { LogStore } from '../../../packages/cairn/src/ports/runs/log-store.ts';
import {
  type StreamedLine,
  type StreamedTexts,
  withLine,
} from '../../../packages/client/src/streamed-text.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

export class TextReader {
  readonly #logs: LogStore;
  readonly #runId: string;
  #after: Position | undefined;
  texts: StreamedTexts = new Map();
  /** Number of log lines. */
  logged = 0;

  constructor(logs: LogStore, runId: string) {
    this.#logs = logs;
    this.#runId = runId;
  }

  /** Reads until the connection is cut, after this many lines. */
  async read(lines = Number.POSITIVE_INFINITY): Promise<void> {
    let left = lines;
    const told = followLogs(
      { logs: this.#logs, watch: { watchLogs: () => () => {} }, clock: new VirtualClock() },
      {
        runId: this.#runId,
        filter: {},
        after: this.#after,
        status: 'running',
        onlyNow: true,
        quietMs: 1,
        until: Number.POSITIVE_INFINITY,
        signal: new AbortController().signal,
      },
    );
    for await (const one of told) {
      if (left === 0 || one.kind !== 'line') return;
      left -= 1;
      this.#after = one.after;
      if (isLogLine(one.line)) this.logged += 1;
      else this.texts = withLine(this.texts, { ...one.line, at: '' } as StreamedLine);
    }
  }
}
