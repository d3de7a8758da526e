/** Statistics of runs. Each request reads up to 1,000 run documents, so the interval is a minute. */
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

interface StatisticsTime {
  readonly span: string;
  readonly until?: string | undefined;
  sinceOf(now: number): string;
}

/**
 * @param sinceOf returns the start, ISO, for the time of the API (epoch ms)
 * @param span names the range in the cache
 * @param until end, ISO; default: now
 */
export function useStatistics(filter: StatisticsFilter, { span, sinceOf, until }: StatisticsTime) {
  const { api } = useSession();
  const { type, repoId, threadId, tag } = filter;
  return useQuery({
    queryKey: ['statistics', span, type, repoId, threadId, tag],
    queryFn: ({ signal }) => {
      const since = sinceOf(deviceNow() + api.reach.shown().clockOffsetMs);
      return api.get('/v1/runs/statistics', { query: { type, repoId, threadId, tag, since, until }, signal });
    },
    refetchInterval: EVERY_MS,
    refetchIntervalInBackground: false,
  });
}
