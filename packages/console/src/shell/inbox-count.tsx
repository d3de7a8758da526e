/** Number of open questions, beside the link to the inbox. */
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.ts';
import { countedIn, INBOX_COUNT, MAX_COUNTED } from './inbox-counted.ts';

/** Each poll costs a read per question. */
const EVERY_MS = 15_000;

export function InboxCount() {
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: INBOX_COUNT,
    queryFn: async ({ signal }) =>
      countedIn(await api.get('/v1/inbox', { query: { limit: MAX_COUNTED }, signal })),
    refetchInterval: EVERY_MS,
  });
  if (!data || data.count === 0) return null;
  const words = `${data.count}${data.isCut ? '+' : ''}`;
  return (
    <>
      <span className="count" aria-hidden="true">
        {words}
      </span>
      <span className="visually-hidden">, {words} open</span>
    </>
  );
}
