/** Reads the effect that a form is about. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Answer } from '../../../api/client.ts';
import { useSession } from '../../../session/session.ts';

const PAGE = '100';
/** Rows looked through: 2,000, which is more effects than a run has. */
const MAX_PAGES = 20;

/**
 * One row of the ledger of a run, looked for in its list, since the API has no address for one. `data` is null where the run has no
 * such row among those. Read anew with each `version`, and meanwhile as it was.
 */
export function useEffectRow(runId: string, effectId: string, version?: number) {
  const { api } = useSession();
  return useQuery({
    queryKey: ['run', runId, 'effect', effectId, version],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Answer<'Effect'> | null> => {
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const query = { limit: PAGE, cursor };
        const { items, next } = await api.get('/v1/runs/{id}/effects', {
          params: { id: runId },
          query,
          signal,
        });
        const found = items.find((row) => row.effectId === effectId);
        if (found) return found;
        if (next === undefined) return null;
        cursor = next;
      }
      return null;
    },
  });
}
