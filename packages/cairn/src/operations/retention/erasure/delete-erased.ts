/** Continues open erasures, before all other retention work. */
import { messageOf } from '../../../core/thrown.ts';
import type { ErasingDeps } from '../deps.ts';
import type { TickBudget } from '../tick-budget.ts';
import { erasurePass } from './erasure-pass.ts';

/** Erasures continued in one tick; the others wait for the next. */
const MAX_OPEN = 50;

export interface ErasureReport {
  readonly open: number;
  readonly done: number;
  /** Number that could not be handled; each is logged, and tried again by the next tick. */
  readonly failed: number;
}

/** @throws the error of the query for open erasures */
export async function deleteErasedData(deps: ErasingDeps, budget: TickBudget): Promise<ErasureReport> {
  const { erasures, log } = deps;
  const report = { open: 0, done: 0, failed: 0 };
  for (const { erasure, version } of await erasures.open(MAX_OPEN)) {
    if (budget.isSpent) return { ...report, open: report.open + 1 };
    try {
      const after = await erasurePass(deps, erasure, budget);
      // Stale: another tick has worked on it and written its result.
      await erasures.write(after, version);
      report[after.state] += 1;
      if (after.state === 'done') log.warn('erasure_done', { erasureId: after.id, ...after.gone });
      else if (after.keptBy) log.warn('erasure_kept', { erasureId: after.id, ...after.keptBy });
    } catch (error) {
      report.failed += 1;
      log.error('erasure_failed', { erasureId: erasure.id, error: messageOf(error) });
    }
  }
  return report;
}
