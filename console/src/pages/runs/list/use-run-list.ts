/**
 * The list as its view needs it: one row of places from the first run to the last, live at its beginning, read on as one
 * scrolls. While one looks further down, what is new is held back, so that nothing moves under the eyes.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import type { RunFilter } from '../filter/filter.ts';
import { byAge, type RunRow } from '../row.ts';
import { Sections } from './sections.ts';
import { beginAnew, useFirstPage } from './use-first-page.ts';
import { useOlderPages } from './use-older-pages.ts';
import type { StreamState } from './use-stream.ts';

export interface RunList {
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly stream: StreamState;
  readonly sections: Sections;
  /** New runs that are not shown yet. */
  readonly held: number;
  /** Which places are looked at, and whether that is the beginning of the list. */
  lookedAt(first: number, last: number): void;
  setAtTop(isAtTop: boolean): void;
  /** Reads what could not be read. */
  again(): void;
  /** Begins anew, after many runs were changed. */
  anew(): void;
}

const NO_ROWS: readonly RunRow[] = [];

export function useRunList(filter: RunFilter): RunList {
  const queries = useQueryClient();
  const atTop = useRef(true);
  const isAtTop = useCallback(() => atTop.current, []);
  const { page, error, stream, again } = useFirstPage(filter, isAtTop);
  const older = useOlderPages(filter, page?.next);
  const [newestSeen, setNewestSeen] = useState<RunRow>();

  const head = page?.rows ?? NO_ROWS;
  const shown = newestSeen ? head.filter((row) => byAge(newestSeen, row) <= 0) : head;
  const sections = new Sections([{ rows: shown, count: 0 }, ...older.pages]);
  const setAtTop = useCallback(
    (isTop: boolean) => {
      if (atTop.current === isTop) return;
      atTop.current = isTop;
      setNewestSeen(isTop ? undefined : head[0]);
    },
    [head],
  );
  return {
    isLoading: page === undefined && !error,
    error: error ?? older.error,
    stream,
    sections,
    held: head.length - shown.length,
    // The first page is always there: the others are counted from it.
    lookedAt: (first, last) => older.want(sections.sectionAt(first) - 1, sections.sectionAt(last) - 1),
    setAtTop,
    again: () => {
      if (error) again();
      older.again();
    },
    anew: () => beginAnew(queries, filter),
  };
}
