/** Statistics of a tenant's runs, computed from the run documents that lists read: without counters, runs have no extra cost. */
import {
  type RunOutline,
  type RunsSummary,
  type Stretch,
  summarizeRuns,
} from '../../core/statistics/summarize-runs.ts';
import type { ListedRun, RunFilter, RunStore } from '../../ports/run-store.ts';

/** Most runs read, the newest first. Each is a billed read. */
export const MAX_RUNS_READ = 1_000;
const RUNS_A_READ = 250;
/** Most pages read. Runs that are being erased are left out, so a page may have few runs or none. */
export const MAX_PAGES_READ = 8;

interface ReadStatistics extends RunsSummary, Stretch {
  /** True if there are older runs in the requested time: `from` is the creation of the oldest that was read. */
  readonly isCut: boolean;
  /** Runs that could not be decoded and are not counted. */
  readonly unreadable: number;
}

export async function readStatistics(
  store: Pick<RunStore, 'listRuns'>,
  filter: RunFilter,
  requested: Stretch,
): Promise<ReadStatistics> {
  const wanted = { ...filter, createdFrom: requested.from, createdBefore: requested.until };
  const runs: RunOutline[] = [];
  let unreadable = 0;
  let pages = 0;
  let cursor: string | undefined;
  do {
    const limit = Math.min(RUNS_A_READ, MAX_RUNS_READ - runs.length - unreadable);
    const page = await store.listRuns(wanted, { limit, cursor });
    runs.push(...page.items.map(outlineOf));
    unreadable += page.unreadable?.length ?? 0;
    cursor = page.next;
    pages += 1;
  } while (cursor !== undefined && pages < MAX_PAGES_READ && runs.length + unreadable < MAX_RUNS_READ);
  const isCut = cursor !== undefined;
  const from = isCut
    ? Math.min(requested.until - 1, runs.at(-1)?.createdAt ?? requested.from)
    : requested.from;
  const stretch = { from, until: requested.until };
  const isOfOneType = filter.type !== undefined;
  return { ...summarizeRuns(runs, stretch, { isOfOneType }), ...stretch, isCut, unreadable };
}

function outlineOf({ state, metadata }: ListedRun): RunOutline {
  const { id, type, planVersion, status, createdAt, durationMs, error, suspect } = state;
  const isSuspect = suspect?.alone === true;
  return { id, type, planVersion, status, createdAt, durationMs, error, cost: metadata.cost, isSuspect };
}
