/** Number of runs of each status within the other filters. Polled slowly, and only while the page is visible. */
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../../api/client.ts';
import { useSession } from '../../../session/session.ts';
import { countsKey } from '../list/query-keys.ts';
import type { RunListFilter } from './filter.ts';

const EVERY_MS = 15_000;

export type Counts = Answer<'RunCounts'>;

/** Undefined while the counts are unknown. */
export function useCounts(filter: RunListFilter, isAsked: boolean): Counts | undefined {
  const { api } = useSession();
  const { type, repoId, threadId, tag } = filter;
  const { data } = useQuery({
    queryKey: countsKey(filter),
    queryFn: ({ signal }) => api.get('/v1/runs/counts', { query: { type, repoId, threadId, tag }, signal }),
    enabled: isAsked,
    refetchInterval: EVERY_MS,
    refetchIntervalInBackground: false,
    retry: false,
  });
  return data;
}
