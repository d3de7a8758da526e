/**
 * The list for its view: one sequence from the first run to the last, live at its beginning, and read while scrolling. New
 * runs are held back while a lower part is in view, so that the rows do not move.
 */
import { useCallback, useMemo, useRef, useState } from 'react';
import { isLive, isShown, type RunListFilter } from '../filter/filter.ts';
import { byAge, type RunRow } from '../row.ts';
import { Sections } from './sections.ts';
import { useFirstPage } from './use-first-page.ts';
import { useOlderPages } from './use-older-pages.ts';
import type { StreamState } from './use-stream.ts';

export interface RunList {
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly stream: StreamState;
  /** When the newest rows were read or last changed by the stream, by this machine's clock; epoch ms. 0: not yet. */
  readonly readAt: number;
  readonly sections: Sections;
  /** Ids of runs left out because their documents are damaged. */
  readonly unreadable: readonly string[];
  /** New runs that are not shown yet. */
  readonly held: number;
  /** Child runs among the newest that are not shown. */
  readonly leftOut: number;
  /** Older runs are not checked, because too many do not match. */
  readonly isStopped: boolean;
  /** The number is a lower bound. */
  readonly isBehind: boolean;
  /** Reports the visible range. */
  onVisible(first: number, last: number): void;
  setAtTop(isAtTop: boolean): void;
  /** Retries failed reads. */
  again(): void;
  /** Reads the list again, after many runs were changed. */
  reload(): void;
}

const NO_ROWS: readonly RunRow[] = [];

export function useRunList(filter: RunListFilter): RunList {
  const atTop = useRef(true);
  const isAtTop = useCallback(() => atTop.current, []);
  const { page, readAt, error, stream, isBehind, again, reload } = useFirstPage(filter, isAtTop);
  const older = useOlderPages(filter, page?.next);
  const [seen, setSeen] = useState<{ readonly of: RunListFilter; readonly newest: RunRow | undefined }>();

  const read = page?.rows ?? NO_ROWS;
  const head = useMemo(() => read.filter((row) => isShown(row, filter)), [read, filter]);
  const newestSeen = seen?.of === filter ? seen.newest : undefined;
  const shown = newestSeen && isLive(filter) ? head.filter((row) => byAge(newestSeen, row) <= 0) : head;
  const sections = new Sections([{ rows: shown, count: 0 }, ...older.pages]);
  const setAtTop = useCallback(
    (isTop: boolean) => {
      if (atTop.current === isTop) return;
      atTop.current = isTop;
      setSeen({ of: filter, newest: isTop ? undefined : head[0] });
      if (isTop && isBehind) reload();
    },
    [filter, head, isBehind, reload],
  );
  return {
    isLoading: page === undefined && !error,
    error: error ?? older.error,
    stream,
    readAt,
    sections,
    unreadable: [...(page?.unreadable ?? []), ...older.unreadable],
    held: head.length - shown.length,
    leftOut: read.filter((row) => isShown(row, { ...filter, topLevel: undefined })).length - head.length,
    isStopped: older.isStopped,
    isBehind,
    // The first page is always in memory, so the indexes of older pages start after it.
    onVisible: (first, last) =>
      older.want(Math.max(0, sections.sectionAt(first) - 1), sections.sectionAt(last) - 1),
    setAtTop,
    again: () => {
      if (error) again();
      older.again();
    },
    reload: reload,
  };
}
