/** Statistics of runs. The API reads up to 1,000 run documents for them, so they are asked for again once a minute. */
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/client.ts';
import { deviceNow } from '../../api/device-clock.ts';
import { useSession } from '../../session/session.ts';

export type Statistics = Answer<'RunStatistics'>;
export type Figures = Statistics['total'];

const EVERY_MS = 60_000;

interface StatisticsFilter {
  readonly type?: string | undefined;
  readonly repoId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly tag?: string | undefined;
}

/**
 * @param sinceOf start of the time, ISO, from the clock of the API (epoch ms)
 * @param span names the time in the cache
 */
export function useStatistics(
  filter: StatisticsFilter,
  { span, sinceOf }: { readonly span: string; sinceOf(now: number): string },
) {
  const { api } = useSession();
  const { type, repoId, threadId, tag } = filter;
  return useQuery({
    queryKey: ['statistics', span, type, repoId, threadId, tag],
    queryFn: ({ signal }) => {
      const since = sinceOf(deviceNow() + api.reach.shown().clockOffsetMs);
      return api.get('/v1/runs/statistics', { query: { type, repoId, threadId, tag, since }, signal });
    },
    refetchInterval: EVERY_MS,
    refetchIntervalInBackground: false,
  });
}
