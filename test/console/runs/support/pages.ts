/** Pages of ten thousand runs as the API would answer, without starting the runs. */
import type { RunSummary } from '../../../../packages/console/src/pages/runs/row.ts';
import { summary } from './summaries.ts';

export const PAGE = 100;
const PAGES = 100;

export function pageOf(cursor: string | null, part: Partial<RunSummary> = {}) {
  const page = Number(cursor ?? 0);
  const at = (i: number) => new Date(1_700_000_000_000 - (page * PAGE + i) * 1_000).toISOString();
  const items = Array.from({ length: PAGE }, (_, i) =>
    summary({ id: `run_${page}_${i}`, threadId: 't', status: 'completed', createdAt: at(i), ...part }),
  );
  return { items, ...(page + 1 < PAGES ? { next: String(page + 1) } : {}) };
}
