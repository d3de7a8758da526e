/**
 * The pages after the first, read by cursor while scrolling. To bound memory, a page far from the view keeps only its cursor,
 * to be reread, and its length, so that the list keeps its height.
 */
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSession } from '../../../session/session.ts';
import type { RunListFilter } from '../filter/filter.ts';
import type { RunRow } from '../row.ts';
import { chainKey, pageKey } from './query-keys.ts';
import { type RowPage, readPage } from './use-first-page.ts';

/** Pages kept on either side of the visible ones. */
const KEPT_AROUND = 8;
/** Time for which an older page is fresh, ms: no stream reports changes there. */
const FRESH_MS = 15_000;
/** Time until an unused page is dropped, ms. */
const FORGOTTEN_MS = 60_000;
/** Limit of consecutive empty pages read automatically. In a list by comparison or prefix, each costs up to 1,000 reads. */
export const MAX_EMPTY = 10;

interface KnownPage {
  readonly cursor: string;
  /** Rows at the last read; before, 1 for the placeholder. */
  readonly count: number;
}

const NONE: readonly KnownPage[] = [];

interface OlderPages {
  readonly pages: readonly { readonly count: number; readonly rows: readonly RunRow[] | undefined }[];
  /** True if reading stopped after {@link MAX_EMPTY} empty pages. */
  readonly isStopped: boolean;
  /** Ids on the visible pages. */
  readonly unreadable: readonly string[];
  readonly error: unknown;
  /** Reports the visible pages. */
  want(from: number, to: number): void;
  again(): void;
}

/** @param next cursor of the second page; undefined: there is none */
export function useOlderPages(filter: RunListFilter, next: string | undefined): OlderPages {
  const { api } = useSession();
  const queries = useQueryClient();
  const [chain, setChain] = useState<readonly KnownPage[]>([]);
  const [wanted, setWanted] = useState({ from: 0, to: -1 });
  const before = useMemo(() => {
    if (next === undefined) return NONE;
    // Back restores the length of the list, so that the browser can restore the scroll position.
    const left = queries.getQueryData<readonly KnownPage[]>(chainKey(filter));
    const isItsChain = (one: readonly KnownPage[] = NONE) => one[0]?.cursor === next;
    return [chain, left].find(isItsChain) ?? [{ cursor: next, count: 1 }];
  }, [chain, next, queries, filter]);
  const shown = before.slice(wanted.from, wanted.to + 1);
  const results = useQueries({
    queries: shown.map(({ cursor }) => ({
      queryKey: pageKey(filter, cursor),
      queryFn: ({ signal }: { signal: AbortSignal }) => readPage(api, { filter, cursor, signal }),
      staleTime: FRESH_MS,
      gcTime: FORGOTTEN_MS,
      structuralSharing: false,
    })),
  });

  const read = results.map(({ data }) => data);
  // After an empty page the next one is read at once, so that the list does not look empty meanwhile.
  const known = chainAfter(before, wanted.from, read);
  useEffect(() => {
    setChain(known);
    if (known.length === 0) return;
    queries.setQueryData(chainKey(filter), known);
  }, [known, queries, filter]);

  const want = useCallback((from: number, to: number) => {
    setWanted((before) => (before.from === from && before.to === to ? before : { from, to }));
  }, []);
  useEffect(() => {
    known.forEach(({ cursor }, at) => {
      const isFar = at < wanted.from - KEPT_AROUND || at > wanted.to + KEPT_AROUND;
      if (isFar) queries.removeQueries({ queryKey: pageKey(filter, cursor), type: 'inactive' });
    });
  }, [known, wanted, queries, filter]);

  return {
    pages: known.map(({ cursor, count }) => {
      const rows = queries.getQueryData<RowPage>(pageKey(filter, cursor))?.rows;
      return { count: rows?.length ?? count, rows };
    }),
    isStopped: isStopped(known),
    unreadable: read.flatMap((page) => page?.unreadable ?? []),
    error: results.find((result) => result.error)?.error,
    want,
    again: () => {
      for (const result of results) if (result.error) void result.refetch();
    },
  };
}

function isStopped(pages: readonly KnownPage[]): boolean {
  return pages.length >= MAX_EMPTY && pages.slice(-MAX_EMPTY).every(({ count }) => count === 0);
}

/** Updates the chain with the lengths and the next cursor that were read. Returns the same object if nothing changed. */
function chainAfter(
  chain: readonly KnownPage[],
  from: number,
  read: readonly (RowPage | undefined)[],
): readonly KnownPage[] {
  const after = [...chain];
  read.forEach((page, i) => {
    const at = after[from + i];
    if (!page || !at) return;
    const count = page.rows.length;
    if (at.count !== count) after[from + i] = { ...at, count };
    const isLast = from + i === after.length - 1;
    if (isLast && page.next !== undefined && !isStopped(after)) after.push({ cursor: page.next, count: 1 });
  });
  const isSame = after.length === chain.length && after.every((page, i) => page === chain[i]);
  return isSame ? chain : after;
}
