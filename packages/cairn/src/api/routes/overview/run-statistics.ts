/** Counts of the runs of the caller's tenant. */
import { CairnError } from '../../../core/errors.ts';
import { MIN_TIME } from '../../../core/time.ts';
import { readStatistics } from '../../../operations/search/read-statistics.ts';
import type { ReadHandler } from '../../route.ts';
import { iso } from '../../views/values.ts';
import { runFilter } from '../read-runs.ts';

/** `GET /v1/runs/counts`: how many runs there are of each status. */
export const readRunCounts: ReadHandler<'GET /v1/runs/counts'> = ({ instance, caller, query }) =>
  instance.runCounts.count(runFilter(caller, query).filter);

/** Without `since`, ms. */
const DEFAULT_STRETCH_MS = 86_400_000;

/** `GET /v1/runs/statistics`: how many runs there were in a time, how they ended, and why they failed. */
export const readRunStatistics: ReadHandler<'GET /v1/runs/statistics'> = async ({ deps, caller, query }) => {
  const { createdFrom, createdBefore, ...filter } = runFilter(caller, query).filter;
  const until = createdBefore ?? deps.clock.now();
  const from = createdFrom ?? Math.max(MIN_TIME, until - DEFAULT_STRETCH_MS);
  if (from >= until)
    throw new CairnError('INVALID_INPUT', 'since: the time does not lie before its end', {
      field: 'since',
      help: 'Send a since before until, or before now.',
    });
  const { parts, causes, ...read } = await readStatistics(deps.store, filter, { from, until });
  return {
    ...read,
    from: iso(read.from),
    until: iso(read.until),
    parts: parts.map((part) => ({ ...part, from: iso(part.from) })),
    causes: causes.map(({ last, ...cause }) => ({ ...cause, last: { ...last, at: iso(last.at) } })),
  };
};
