/** A list that the API gives page by page, read again at intervals as far as it is loaded. */
import { useInfiniteQuery } from '@tanstack/react-query';

interface PolledPage {
  readonly items: readonly unknown[];
  readonly next?: string | undefined;
}

interface PolledListOf<P extends PolledPage> {
  readonly queryKey: readonly string[];
  read(cursor: string | undefined, signal: AbortSignal): Promise<P>;
  readonly everyMs: number;
}

export interface PolledList<P extends PolledPage> {
  /** Undefined: nothing is there yet. */
  readonly pages: readonly P[] | undefined;
  readonly items: readonly P['items'][number][];
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  loadMore(): void;
  again(): void;
}

export function usePolledList<P extends PolledPage>(options: PolledListOf<P>): PolledList<P> {
  const { queryKey, read, everyMs } = options;
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    getNextPageParam: ({ next }) => next,
    refetchInterval: everyMs,
  });
  return {
    pages: data?.pages,
    items: data?.pages.flatMap(({ items }) => items) ?? [],
    error,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: () => void fetchNextPage(),
    again: () => void refetch(),
  };
}
