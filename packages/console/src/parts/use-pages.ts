/** A paged list of the API, loaded on scrolling and kept up to date. */
import { type InfiniteData, type QueryKey, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';

interface FetchedPage {
  readonly items: readonly unknown[];
  readonly next?: string | undefined;
}

interface PagesOf<P extends FetchedPage> {
  readonly queryKey: QueryKey;
  read(cursor: string | undefined, signal?: AbortSignal): Promise<P>;
  /** A change means that there may be more or other items. */
  readonly version?: unknown;
  /** Items never change and are appended, so only the last page is reread. Otherwise all loaded pages are. */
  readonly isAppendOnly?: boolean;
  /** Interval of further rereads if no event reports new items, ms. */
  readonly rereadMs?: number | undefined;
}

export interface Pages<P extends FetchedPage> {
  /** Undefined until the first page is read. */
  readonly pages: readonly P[] | undefined;
  readonly items: readonly P['items'][number][];
  /** True until the first page is read. */
  readonly isFirstLoading: boolean;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly error: Error | null;
  loadMore(): void;
  again(): void;
}

/** Least time between two reads, ms. */
const REREAD_MS = 1_500;

export function usePages<P extends FetchedPage>(options: PagesOf<P>): Pages<P> {
  const { queryKey, read, version, isAppendOnly, rereadMs } = options;
  const queries = useQueryClient();
  const list = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    getNextPageParam: ({ next }: P) => next,
    refetchInterval: rereadMs ?? false,
  });
  const { data, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch, error } = list;

  const readAgain = useRef(async () => {});
  readAgain.current = async () => {
    if (!isAppendOnly) return void (await refetch());
    if (hasNextPage) return;
    const cursor = data?.pageParams.at(-1) as string | undefined;
    const last = await read(cursor);
    queries.setQueryData<InfiniteData<P, string | undefined>>(
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
      // The next change retries the read; the shown pages stay.
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
    pages: data?.pages,
    items,
    isFirstLoading: data === undefined && isFetching,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    error,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    },
    again: () => void refetch(),
  };
}
