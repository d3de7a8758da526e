/** Says that a run is kept from being deleted, by whom and why. */
import { useQuery } from '@tanstack/react-query';
import { Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { useSession } from '../../../session/session.ts';

/** Held and released rarely; a change made here is read back at once. */
const FRESH_MS = 60_000;

export function Held({ id }: { readonly id: string }) {
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: ['run', id, 'retention'],
    queryFn: ({ signal }) => api.get('/v1/runs/{id}/retention', { params: { id }, signal }),
    staleTime: FRESH_MS,
  });
  const hold = data?.legalHold;
  if (!hold) return null;
  return (
    <span className="held">
      On legal hold by <Text value={hold.by} max={80} /> <When at={hold.at} />:{' '}
      <Text value={hold.reason} max={120} />
    </span>
  );
}
