/** The history of a step far into a long journal, read from the events near its last one instead of the whole journal. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useSession } from '../../../session/session.ts';
import { type NearHistory, nearHistory } from '../live/near-history.ts';
import { useRunData } from '../live/run-data.ts';

/** The API's own bound of a page. */
const PAGE = 100;
const NOTHING: NearHistory = { history: undefined, isWhole: false };

interface Near extends NearHistory {
  readonly isLoading: boolean;
}

/**
 * Loads the journal up to the event only if one page of events before it does not contain the whole history.
 *
 * @param seq of the last event of the step; undefined: it has none
 */
export function useNearHistory(key: string, seq: number | undefined): Near {
  const { api } = useSession();
  const { id, events, loadUntil } = useRunData();
  const isFar = seq !== undefined && seq > events.length + PAGE;
  const { data, isPending, isError } = useQuery({
    queryKey: ['runs', id, 'events near', key, seq],
    enabled: isFar,
    queryFn: ({ signal }) =>
      api.get('/v1/runs/{id}/events', {
        params: { id },
        query: { after: Math.max(0, (seq ?? 0) - PAGE), limit: PAGE },
        signal,
      }),
    // Events never change.
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before, query) => (query?.queryKey[3] === key ? before : undefined),
  });
  const near = useMemo(() => (isFar && data ? nearHistory(data.items, key) : NOTHING), [isFar, data, key]);
  const isLoading = isFar && isPending && !isError;
  const isEnough = isFar && (isLoading || near.isWhole);
  useEffect(() => {
    if (seq !== undefined && !isEnough) loadUntil(seq);
  }, [seq, isEnough, loadUntil]);
  return { ...near, isLoading };
}
