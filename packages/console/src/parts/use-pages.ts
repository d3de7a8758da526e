/** A list that the API gives page by page, loaded as far as it is looked at, and kept as it is while what it lists goes on. */
import { type InfiniteData, type QueryKey, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';

interface FetchedPage<T> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
}

interface PagesOf<T> {
  readonly queryKey: QueryKey;
  read(cursor: string | undefined, signal?: AbortSignal): Promise<FetchedPage<T>>;
  /** When it is another one, there may be more, or other, items. */
  readonly version: unknown;
  /** Items never change and come at the end, so that only the last page is read again; otherwise all that are loaded are. */
  readonly isAppendOnly: boolean;
  /** The loaded pages are read again at this interval too, where nothing tells of new items; ms. */
  readonly rereadMs?: number | undefined;
}

export interface Pages<T> {
  readonly items: readonly T[];
  /** Nothing is there yet. */
  readonly isFirstLoading: boolean;
  readonly hasMore: boolean;
  readonly error: unknown;
  loadMore(): void;
  again(): void;
}

/** However fast it goes on, it is read again at most so often. */
const REREAD_MS = 1_500;

export function usePages<T>({ queryKey, read, version, isAppendOnly, rereadMs }: PagesOf<T>): Pages<T> {
  const queries = useQueryClient();
  const list = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    getNextPageParam: ({ next }: FetchedPage<T>) => next,
    refetchInterval: rereadMs ?? false,
  });
  const { data, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch, error } = list;

  const readAgain = useRef(async () => {});
  readAgain.current = async () => {
    if (!isAppendOnly) return void (await refetch());
    if (hasNextPage) return;
    const cursor = data?.pageParams.at(-1) as string | undefined;
    const last = await read(cursor);
    queries.setQueryData<InfiniteData<FetchedPage<T>, string | undefined>>(
      queryKey,
      (known) => known && { ...known, pages: [...known.pages.slice(0, -1), last] },
    );
  };
  const newest = useRef(version);
  newest.current = version;
  const shown = useRef(version);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (shown.current === version || data === undefined || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      shown.current = newest.current;
      // It is tried again with the next change; what is shown stays.
      readAgain.current().catch(() => undefined);
    }, REREAD_MS);
  }, [version, data]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );

  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  return {
    items,
    isFirstLoading: data === undefined && isFetching,
    hasMore: hasNextPage,
    error,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    },
    again: () => void refetch(),
  };
}
