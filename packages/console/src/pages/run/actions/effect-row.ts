/** Reads the effect that a form is about. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Answer } from '../../../api/client.ts';
import { readPages } from '../../../api/read-pages.ts';
import { useSession } from '../../../session/session.ts';

const PAGE = '100';
/** Rows looked through: 2,000, which is more effects than a run has. */
const MAX_PAGES = 20;

/**
 * Finds one row of the ledger of a run in its list, because the API has no address for a single row. `data` is null if it is
 * not found. A new `version` reads it again, and keeps the old data meanwhile.
 */
export function useEffectRow(
  runId: string,
  effectId: string,
  {
    version,
    enabled = true,
  }: { readonly version: number | undefined; readonly enabled?: boolean | undefined },
) {
  const { api } = useSession();
  const isMeant = (row: Answer<'Effect'>) => row.effectId === effectId;
  return useQuery({
    queryKey: ['run', runId, 'effect', effectId, version],
    placeholderData: keepPreviousData,
    enabled,
    queryFn: async ({ signal }): Promise<Answer<'Effect'> | null> => {
      const read = (cursor: string | undefined) =>
        api.get('/v1/runs/{id}/effects', { params: { id: runId }, query: { limit: PAGE, cursor }, signal });
      const { items } = await readPages(MAX_PAGES, read, isMeant);
      return items.find(isMeant) ?? null;
    },
  });
}
