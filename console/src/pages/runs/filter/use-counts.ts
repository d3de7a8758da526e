/** How many runs there are of each status, within the other filters. Polled, slowly and only while somebody looks. */
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../../session/session.ts';
import { countsKey } from '../list/keys.ts';
import type { RunFilter, RunStatus } from './filter.ts';

const EVERY_MS = 15_000;

export interface Counts {
  readonly counts: Readonly<Partial<Record<RunStatus, number>>>;
  /** There are more than were counted. */
  readonly isCut: boolean;
}

/** Undefined while they are not known: the list does without. */
export function useCounts(filter: RunFilter): Counts | undefined {
  const { api } = useSession();
  const { type, repoId, threadId } = filter;
  const { data } = useQuery({
    queryKey: countsKey(filter),
    queryFn: ({ signal }) =>
      api.get('/v1/runs/counts' as '/v1/runs', {
        query: { type, repoId, threadId },
        signal,
      }) as unknown as Promise<Counts>,
    refetchInterval: EVERY_MS,
    refetchIntervalInBackground: false,
    retry: false,
  });
  return data;
}
