/** The switch of the operators that keeps a run from moving, read once the run has not moved for a while. */
import { mayBeStopped, type Stop, stopOf } from '@cairn/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useSession } from '../../../session/session.ts';
import type { Run } from '../live/events.ts';

/** Most runs are queued for a shorter time. */
const PATIENCE_MS = 1_000;
const EVERY_MS = 15_000;

export function useStop(run: Run): Stop | undefined {
  const { api } = useSession();
  const isStill = useLasting(mayBeStopped(run));
  const { data } = useQuery({
    queryKey: ['workflows', 'summary'],
    enabled: isStill,
    refetchInterval: EVERY_MS,
    queryFn: ({ signal }) => api.get('/v1/workflows', { query: { summary: true }, signal }),
  });
  return isStill && data ? stopOf(data, run.type) : undefined;
}

/** True once it has been true for {@link PATIENCE_MS}. */
function useLasting(is: boolean): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!is) return;
    const timer = setTimeout(() => setLasts(true), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      setLasts(false);
    };
  }, [is]);
  return is && lasts;
}
