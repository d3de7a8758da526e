/** Continues open erasures, before all other retention work. */
import { messageOf } from '../../../core/thrown.ts';
import type { OpenErasure } from '../../../ports/runs/erasure-store.ts';
import type { ErasingDeps } from '../deps.ts';
import type { TickBudget } from '../tick-budget.ts';
import { erasurePass } from './erasure-pass.ts';

/** Erasures continued in one tick. The budget of each then suffices for a page of runs. The next tick begins with the others. */
const MAX_OPEN = 50;

export interface ErasureReport {
  readonly open: number;
  readonly done: number;
  /** Erasures that could not be handled. Each is logged, and the next tick tries again. */
  readonly failed: number;
}

interface ErasuresContinued {
  readonly report: ErasureReport;
  /** The last one that was continued; undefined: all were, and the next tick may begin anywhere. */
  readonly last: string | undefined;
}

/**
 * Each erasure gets an equal part of the remaining budget, so that none blocks the others.
 *
 * @param after the last one that the previous tick continued
 * @throws the error of the query for open erasures
 */
export async function deleteErasedData(
  deps: ErasingDeps,
  after: string | undefined,
  budget: TickBudget,
): Promise<ErasuresContinued> {
  const open = await openAfter(deps, after);
  const report = { open: 0, done: 0, failed: 0 };
  for (const [n, one] of open.entries()) {
    if (budget.isSpent) {
      report.open += open.length - n;
      return { report, last: open[n - 1]?.id ?? after };
    }
    await budget.within(1 / (open.length - n), (part) => continueOne(deps, one, { budget: part, report }));
  }
  return { report, last: open.length === MAX_OPEN ? open.at(-1)?.id : undefined };
}

/** Open erasures in a circle: after the last one follow the first. */
async function openAfter(
  { erasures }: ErasingDeps,
  after: string | undefined,
): Promise<readonly OpenErasure[]> {
  const later = await erasures.open(after, MAX_OPEN);
  if (after === undefined || later.length === MAX_OPEN) return later;
  const first = await erasures.open(undefined, MAX_OPEN - later.length);
  return [...later, ...first.filter(({ id }) => id <= after)];
}

interface Continuing {
  readonly budget: TickBudget;
  readonly report: { -readonly [K in keyof ErasureReport]: number };
}

async function continueOne(
  deps: ErasingDeps,
  { id, ...found }: OpenErasure,
  { budget, report }: Continuing,
): Promise<void> {
  const { erasures, log } = deps;
  try {
    if (found.unreadable) throw found.unreadable;
    const { erasure, version } = found.stored;
    const after = await erasurePass(deps, erasure, budget);
    // If the version is stale, another tick has worked on the erasure and written its result.
    await erasures.write(after, version);
    report[after.state] += 1;
    if (after.state === 'done') log.warn('erasure_done', { erasureId: after.id, ...after.gone });
    else if (after.keptBy) log.warn('erasure_kept', { erasureId: after.id, ...after.keptBy });
  } catch (error) {
    report.failed += 1;
    log.error('erasure_failed', { erasureId: id, error: messageOf(error) });
  }
}
