/**
 * The newest rows: read once, then updated by the stream. Rows pushed out by newer ones stay in the list. After a gap, or with
 * too many rows, the list is reread.
 */
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import type { Api } from '../../../api/client.ts';
import { useSession } from '../../../session/session.ts';
import {
  askedFilter,
  filterOf,
  hasRange,
  isLive,
  isShown,
  type RunListFilter,
  rangeOf,
} from '../filter/filter.ts';
import { byAge, type RunRow, rowOf } from '../row.ts';
import { headAfter, type Live, NOTHING_LIVE } from './live-head.ts';
import { countsKey, LIST_KEPT_MS, listKey, PAGE, pageKey } from './query-keys.ts';
import { type StreamState, useRunStream } from './use-stream.ts';

export interface RowPage {
  readonly rows: readonly RunRow[];
  /** Cursor of the next page. */
  readonly next?: string | undefined;
  /** Ids of runs among these whose documents are damaged. */
  readonly unreadable?: readonly string[] | undefined;
}

/** Number of rows at which the list is reread while its top is in view. */
const MAX_ROWS = 3 * PAGE;
/** Number of rows at which new ones are held back while a lower part is in view, which a reread would move. */
const MAX_ROWS_AWAY = 10 * PAGE;
/** Least time between two counts, which are billed. It exceeds the API's cache time of 2 s. */
const COUNT_EVERY_MS = 3_000;

interface FirstPage {
  readonly page: RowPage | undefined;
  /** When its rows were read or last changed by the stream, by this machine's clock; epoch ms. 0: not yet. */
  readonly readAt: number;
  readonly error: unknown;
  readonly stream: StreamState;
  /** True if more new rows arrived than are kept. */
  readonly isBehind: boolean;
  again(): void;
  /** Reads the list again, from the newest rows. */
  reload(): void;
}

/**
 * @param filter the same object while it does not change
 * @param isAtTop true if the first rows are in view, so that the list may be read again
 */
export function useFirstPage(filter: RunListFilter, isAtTop: () => boolean): FirstPage {
  const { api } = useSession();
  const queries = useQueryClient();
  const latest = useRef<{ readonly of: RunListFilter; readonly live: Live }>({
    of: filter,
    live: NOTHING_LIVE,
  });
  const { data, dataUpdatedAt, error, refetch } = useQuery({
    queryKey: pageKey(filter, undefined),
    queryFn: async ({ signal }) => {
      const page = await readFirst(api, queries, filter, signal);
      // Live rows that arrived during the read may be newer than its rows.
      if (!isLive(filter)) return page;
      const live = latest.current.of === filter ? latest.current.live : NOTHING_LIVE;
      return { ...page, rows: headAfter(page.rows, live, PAGE).rows };
    },
    // The stream keeps the list current; a list without a stream is read when it is opened.
    staleTime: isLive(filter) ? Number.POSITIVE_INFINITY : 0,
    gcTime: LIST_KEPT_MS,
    refetchOnWindowFocus: false,
    // Rows change their order, so a comparison by position would reuse too little to be worth its time.
    structuralSharing: false,
  });
  /** The list that has more rows than are kept. */
  const [behind, setBehind] = useState<RunListFilter>();
  const count = useThrottledCount(filter);
  const reload = useCallback(
    (rows?: readonly RunRow[]) => {
      setBehind(undefined);
      const known = rows ?? queries.getQueryData<RowPage>(pageKey(filter, undefined))?.rows ?? [];
      // The cursor of the next page is known once the first has been read again.
      queries.setQueryData<RowPage>(pageKey(filter, undefined), { rows: known.slice(0, PAGE) });
      void queries.invalidateQueries({ queryKey: listKey(filter) });
    },
    [queries, filter],
  );
  const onLive = useCallback(
    (live: Live) => {
      latest.current = { of: filter, live };
      const before = queries.getQueryData<RowPage>(pageKey(filter, undefined));
      if (!before) return;
      const { rows, hasGap } = headAfter(before.rows, live, PAGE);
      if (isAtTop() && (hasGap || rows.length > MAX_ROWS)) return reload(rows);
      if (hasGap || rows.length > MAX_ROWS_AWAY) return setBehind(filter);
      queries.setQueryData<RowPage>(pageKey(filter, undefined), { ...before, rows });
      count();
    },
    [queries, filter, isAtTop, reload, count],
  );
  const stream = useRunStream(filter, onLive);
  return {
    page: data,
    readAt: dataUpdatedAt,
    error,
    stream,
    isBehind: behind === filter,
    again: () => void refetch(),
    reload: reload,
  };
}

/** Rereads the first page, and keeps its rows beyond the first hundred, so that the following pages do not move. */
async function readFirst(
  api: Api,
  queries: QueryClient,
  filter: RunListFilter,
  signal: AbortSignal,
): Promise<RowPage> {
  const fresh = await readNewest(api, filter, signal);
  if (!isLive(filter)) return fresh;
  const before = queries.getQueryData<RowPage>(pageKey(filter, undefined));
  const oldest = fresh.rows.at(-1);
  if (!before || !oldest || fresh.next === undefined) return fresh;
  if (!before.rows.some((row) => row.id === oldest.id)) return fresh;
  const older = before.rows.filter((row) => byAge(oldest, row) < 0);
  return older.length === 0 ? fresh : { ...fresh, rows: [...fresh.rows, ...older], next: before.next };
}

/** Reads the newest rows with child runs and all causes, because the stream, which updates them, does not filter by these. */
function readNewest(api: Api, filter: RunListFilter, signal: AbortSignal): Promise<RowPage> {
  return readPage(api, { filter: { ...filter, topLevel: undefined, cause: undefined }, signal });
}

/** Rows that fill a view. */
const VIEW_ROWS = 20;

/**
 * Requests the rows of an address before the page is drawn, which takes about as long as the request. Lists without a stream
 * are read when they are opened. Never rejects.
 */
export async function readAhead(api: Api, queries: QueryClient, search: string): Promise<void> {
  const filter = filterOf(search);
  if (new URLSearchParams(search).has('q') || hasRange(rangeOf(search)) || !isLive(filter)) return;
  const queryKey = pageKey(filter, undefined);
  await queries.prefetchQuery({
    queryKey,
    queryFn: ({ signal }) => readNewest(api, filter, signal),
  });
  const { rows = [], next: cursor } = queries.getQueryData<RowPage>(queryKey) ?? {};
  if (cursor === undefined || rows.filter((row) => isShown(row, filter)).length >= VIEW_ROWS) return;
  await queries.prefetchQuery({
    queryKey: pageKey(filter, cursor),
    queryFn: ({ signal }) => readPage(api, { filter, cursor, signal }),
  });
}

interface RunPageRequest {
  readonly filter: RunListFilter;
  readonly cursor?: string | undefined;
  readonly signal: AbortSignal;
}

export async function readPage(api: Api, { filter, cursor, signal }: RunPageRequest): Promise<RowPage> {
  const { items, next, unreadable } = await api.get('/v1/runs', {
    query: { ...askedFilter(filter), limit: PAGE, cursor },
    signal,
  });
  return { rows: items.map(rowOf).filter((row) => isShown(row, filter)), next, unreadable };
}

/** Requests new counts some time after each call, also for a call during the last request. */
function useThrottledCount(filter: RunListFilter): () => void {
  const queries = useQueryClient();
  const waiting = useRef<{ isCalledAgain: boolean }>(undefined);
  return useCallback(() => {
    if (waiting.current) {
      waiting.current.isCalledAgain = true;
      return;
    }
    const wait = () => {
      waiting.current = { isCalledAgain: false };
      setTimeout(() => {
        const isCalledAgain = waiting.current?.isCalledAgain;
        waiting.current = undefined;
        void queries.invalidateQueries({ queryKey: countsKey(filter) });
        if (isCalledAgain) wait();
      }, COUNT_EVERY_MS);
    };
    wait();
  }, [queries, filter]);
}
