/** Reads the lines of a run page by page, and those that are added until it has ended. */
import type { Answer } from '../../../api/client.ts';

export type LogLineView = Answer<'LogLine'>;
type LogPage = Answer<'LogPage'>;

export interface ReadLines {
  readonly lines: readonly LogLineView[];
  /** True if more lines exist already. */
  readonly isReading: boolean;
  /** True if no more lines will be added. */
  readonly isWhole: boolean;
}

export const NO_LINES: ReadLines = { lines: [], isReading: true, isWhole: false };

interface LineFollowing {
  read(cursor: string | undefined): Promise<LogPage>;
  show(read: ReadLines): void;
  /** Resolves when lines may have been added. */
  pause(): Promise<void>;
  readonly signal: AbortSignal;
}

/** Rejects as soon as one page cannot be read. */
export async function followLogs({ read, show, pause, signal }: LineFollowing): Promise<void> {
  let cursor: string | undefined;
  let lines: readonly LogLineView[] = [];
  while (!signal.aborted) {
    const { items, next, after, ended } = await read(cursor);
    if (signal.aborted) return;
    if (items.length > 0) lines = [...lines, ...items];
    cursor = after ?? cursor;
    const isReading = next !== undefined;
    show({ lines, isReading, isWhole: ended && !isReading });
    if (isReading) continue;
    if (ended) return;
    await pause();
  }
}
