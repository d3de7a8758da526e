/**
 * A tick of retention: checks runs past their retention period, and deletes lineages, up to its limits. Ticks may run
 * concurrently, and may be interrupted at any point.
 */
import { workThroughAll } from '../../core/map-concurrently.ts';
import { messageOf } from '../../core/thrown.ts';
import { stoppedBy } from '../../engine/admission.ts';
import type { RetentionProgress } from '../../ports/runs/retention-store.ts';
import { type Done, deleteLineage } from './delete-lineage.ts';
import { deleteOrphans } from './delete-orphans.ts';
import type { DeletionDeps } from './deps.ts';
import { type BucketPosition, eachExpired, placeText, readPlace } from './each-expired.ts';
import { deleteErasedData, type ErasureReport } from './erasure/delete-erased.ts';
import { type InspectedLineage, inspectLineage } from './inspect-lineage.ts';
import { CONCURRENCY, ERASURES_PART, TICK, type TickBounds, TickBudget } from './tick-budget.ts';

export interface RetentionReport {
  /** Checked lineages by result. */
  readonly kept: number;
  readonly waiting: number;
  readonly marked: number;
  readonly deleted: number;
  /** Lineages whose deletion began and continues in the next tick. */
  readonly unfinished: number;
  /** Lineages that could not be handled. Each is logged, and tried again after the others. */
  readonly failed: number;
  /** Deleted inputs of starts that created no run. */
  readonly orphans: number;
  /** Requested erasures, which are handled first. */
  readonly erasures: ErasureReport;
  /** True if the kill switch is on, or the installation is paused after a restore: nothing was inspected. */
  readonly off: boolean;
}

const NO_ERASURES: ErasureReport = { open: 0, done: 0, failed: 0 };

interface DeletionTick {
  readonly budget: TickBudget;
  /** Lineages handled in this tick. */
  readonly handled: Set<string>;
  readonly counts: { [K in Done | 'failed']: number };
  /** Stored progress, to avoid storing it again. */
  progress: RetentionProgress;
  /** The erasure that was continued last. */
  readonly erasure: string | undefined;
  /** Lineages that may be partly deleted. */
  readonly underway: Set<string>;
}

/** @throws errors of reading the runtime configuration or the progress: then nothing was changed */
export async function deleteExpiredRuns(
  deps: DeletionDeps,
  bounds: TickBounds = TICK,
): Promise<RetentionReport> {
  const { runtime, retention, clock, log } = deps;
  const counts = { gone: 0, kept: 0, waits: 0, marked: 0, moved: 0, deleted: 0, unfinished: 0, failed: 0 };
  const why = stoppedBy(await runtime.current(0));
  if (why) {
    log.warn('retention_off', { why });
    return reportOf(counts, { orphans: 0, erasures: NO_ERASURES, off: true });
  }
  const progress = await retention.readProgress();
  const budget = new TickBudget(bounds, clock);
  const { report: erasures, last: erasure } = await budget.within(ERASURES_PART, (part) =>
    deleteErasedData(deps, progress.erasure, part),
  );
  const tick: DeletionTick = {
    budget,
    handled: new Set(),
    counts,
    progress,
    erasure,
    underway: new Set(progress.underway),
  };
  await handleLineages(deps, tick, [...tick.underway]);
  const runs = await handleRuns(deps, tick);
  const { next: payloads, deleted: orphans } = await deleteOrphans(deps, {
    after: progress.payloads,
    owners: bounds.owners,
    budget,
  });
  await save(deps, tick, { runs, payloads });
  return reportOf(counts, { orphans, erasures, off: false });
}

/** Position for the next tick; undefined: the beginning, because this tick reached the end. */
async function handleRuns(deps: DeletionDeps, tick: DeletionTick): Promise<string | undefined> {
  const from = placeIn(deps, tick.progress.runs);
  let before = from;
  for await (const { runs, place } of eachExpired(deps, from)) {
    const roots = new Set(runs.map(({ rootRunId }) => rootRunId));
    tick.budget.inspected(Math.max(1, runs.length));
    await handleLineages(deps, tick, [...roots], before);
    // A deletion in progress is continued first in any case, so its position need not be kept.
    before = place;
    if (tick.budget.isSpent) return placeText(place);
  }
  return undefined;
}

/** A position that another version stored is ignored. */
function placeIn({ log }: DeletionDeps, text: string | undefined): BucketPosition | undefined {
  try {
    return text === undefined ? undefined : readPlace(text);
  } catch (error) {
    log.warn('retention_place_unknown', { error });
    return undefined;
  }
}

interface CheckedLineage {
  readonly rootRunId: string;
  readonly lineage: InspectedLineage;
}

/** Inspects all lineages, records which will be deleted, and then carries out the decisions. */
async function handleLineages(
  deps: DeletionDeps,
  tick: DeletionTick,
  roots: readonly string[],
  place?: BucketPosition,
): Promise<void> {
  const { handled, counts, budget } = tick;
  const open = roots.filter((root) => !handled.has(root));
  for (const root of open) handled.add(root);
  const checked: CheckedLineage[] = [];
  await workThroughAll(open, CONCURRENCY, (rootRunId) =>
    guarded(deps, tick, rootRunId, async () => {
      const lineage = await inspectLineage(deps, rootRunId);
      budget.inspected(lineage.members.length);
      if (lineage.decision.kind === 'keep' && lineage.decision.reason.why === 'too_many')
        deps.log.warn('lineage_too_large', { rootRunId });
      if (lineage.decision.kind === 'delete') tick.underway.add(rootRunId);
      else tick.underway.delete(rootRunId);
      checked.push({ rootRunId, lineage });
    }),
  );
  // Recorded before the deletion begins: if the retention period is extended by tomorrow, the rest is still deleted.
  if (checked.some(({ lineage }) => lineage.decision.kind === 'delete')) {
    const runs = place && placeText(place);
    await save(deps, tick, { runs, payloads: tick.progress.payloads });
  }
  await workThroughAll(checked, CONCURRENCY, ({ rootRunId, lineage }) =>
    guarded(deps, tick, rootRunId, async () => {
      const done = await deleteLineage(deps, { rootRunId, lineage, budget });
      counts[done] += 1;
      if (done === 'deleted') tick.underway.delete(rootRunId);
    }),
  );
}

async function save(
  { retention }: DeletionDeps,
  tick: DeletionTick,
  places: Pick<RetentionProgress, 'runs' | 'payloads'>,
): Promise<void> {
  const progress: RetentionProgress = { ...places, underway: [...tick.underway], erasure: tick.erasure };
  if (JSON.stringify(textOf(progress)) === JSON.stringify(textOf(tick.progress))) return;
  await retention.saveProgress(progress);
  tick.progress = progress;
}

function textOf({ runs, payloads, underway = [], erasure }: RetentionProgress): unknown {
  return [runs ?? null, payloads ?? null, underway, erasure ?? null];
}

/** A lineage that cannot be handled, for example because a document cannot be decoded, must not block the deletion of others. */
async function guarded(
  { log }: DeletionDeps,
  { counts }: DeletionTick,
  rootRunId: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    counts.failed += 1;
    log.error('retention_failed', { rootRunId, error: messageOf(error) });
  }
}

function reportOf(
  { kept, waits, marked, moved, deleted, unfinished, failed }: DeletionTick['counts'],
  rest: Pick<RetentionReport, 'orphans' | 'erasures' | 'off'>,
): RetentionReport {
  return { kept: kept + moved, waiting: waits, marked, deleted, unfinished, failed, ...rest };
}
