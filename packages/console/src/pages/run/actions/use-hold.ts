/** The hold that keeps a run from being deleted. */
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../../session/session.ts';

/** Holds change rarely; one's own change is read back at once. */
const FRESH_MS = 60_000;

/** Undefined while it is not known. */
export function useRetention(id: string) {
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: ['run', id, 'retention'],
    queryFn: ({ signal }) => api.get('/v1/runs/{id}/retention', { params: { id }, signal }),
    staleTime: FRESH_MS,
  });
  return data;
}
