/** Number of open questions, beside the link to the inbox. */
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.ts';

/** Each poll costs a read per question. */
const EVERY_MS = 15_000;
/** Beyond this, a plus sign. */
const MAX_COUNTED = 20;

export function InboxCount() {
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: ['inbox', 'count'],
    queryFn: ({ signal }) => api.get('/v1/inbox', { query: { limit: MAX_COUNTED }, signal }),
    refetchInterval: EVERY_MS,
  });
  const count = data?.items.length ?? 0;
  if (count === 0) return null;
  const words = data?.next === undefined ? String(count) : `${count}+`;
  return (
    <>
      <span className="count" aria-hidden="true">
        {words}
      </span>
      <span className="visually-hidden">, {words} open</span>
    </>
  );
}
