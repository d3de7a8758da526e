/**
 * Recovers runs that were not touched by `wakeAt` (J10): lost tasks, dead dispatches, due retries, blocked runs. Also enqueues
 * a check at the end of the lease for runs whose worker has fallen silent. Safe to run concurrently.
 */
import { type ClaimDecision, claimDecision } from '../core/decisions/claim.ts';
import { taskName } from '../core/encoding/task-name.ts';
import { workThrough } from '../core/map-concurrently.ts';
import { SCAN_PAGE } from '../core/recovery/scan-order.ts';
import { hasCompletionDuties, hasUnpublishedEvents, runsAlone } from '../core/run/state.ts';
import {
  LONGEST_CHECK_MS,
  nextBlockedCheckMs,
  nextReadyCheckMs,
  OPEN_WAIT_MS,
  READY_GRACE_MS,
} from '../core/run/wake.ts';
import { messageOf } from '../core/thrown.ts';
import type { TraceContext } from '../core/trace.ts';
import { deferRun, deferredUntil, pausedBy, stoppedBy } from '../engine/admission.ts';
import { observationOf } from '../engine/definition-of-run.ts';
import type { EngineDeps } from '../engine/deps.ts';
import { poolAndTenant } from '../engine/enqueue-soon.ts';
import { deliverReady } from '../engine/mailbox/collect.ts';
import { recoverRun } from '../engine/recover-run.ts';
import { endUnwritable, reviewFindings } from '../engine/unwritable.ts';
import { CostCounter } from '../journal/cost/cost-counter.ts';
import { countedStores } from '../journal/cost/counted-stores.ts';
import { type InstallationMetrics, publishedName } from '../ports/metrics.ts';
import type { DueRun, LoadedRun } from '../ports/run-store.ts';
import type { RuntimeConfig } from '../ports/runtime-config.ts';
import { StoreRefused } from '../ports/store-errors.ts';
import type { DriveTask } from '../ports/task-queue.ts';
import { DueRuns, type TakenRun } from './due-runs.ts';
import { watchLeases } from './lease-watch.ts';

interface ScanDeps extends EngineDeps {
  /** Absent: no metrics. */
  readonly counts?: InstallationMetrics | undefined;
}

/**
 * Runs handled in parallel. Each waits for about four answers of Firestore and the queue, 20 to 100 ms together, so a tick
 * handles some 10,000 runs. The memory of the function has room for 32 large ones.
 */
const SCAN_CONCURRENCY = 32;

interface ScanReport {
  readonly found: number;
  readonly enqueued: number;
  readonly recovered: number;
  /** Runs of paused workflows. */
  readonly deferred: number;
  /** Runs that missed a heartbeat, for which a dispatch at the end of the lease was requested. */
  readonly watched: number;
  /** Runs that could not be handled; each is logged, and left for a later tick. */
  readonly failed: number;
  /** True if the tick ended before all due runs were handled: the next tick continues. */
  readonly isCut: boolean;
  /** True if nothing was checked, because the kill switch is on or the installation is paused after a restore. */
  readonly off: boolean;
}

type ScanResult = 'enqueued' | 'recovered' | 'deferred' | 'skipped' | 'failed';

/**
 * @throws errors of reading the runtime configuration or a page, after the current runs are handled; the next tick
 * starts over
 */
export async function scan(deps: ScanDeps, pageSize = SCAN_PAGE): Promise<ScanReport> {
  const config = await deps.runtime.current(0);
  const why = stoppedBy(config);
  if (why) {
    deps.log.warn('recovery_scan_off', { why });
    return {
      found: 0,
      enqueued: 0,
      recovered: 0,
      deferred: 0,
      watched: 0,
      failed: 0,
      isCut: false,
      off: true,
    };
  }
  const span = deps.tracer?.open({ name: 'scan', kind: 'internal', attributes: { 'faas.trigger': 'timer' } });
  const backlog = new DueRuns(deps, { config, pageSize });
  const watching = watchLeases(deps, { paused: config.paused, trace: span?.context });
  const handled: ScanResult[] = [];
  const handling = workThrough(
    () => backlog.next(),
    SCAN_CONCURRENCY,
    async (due) => {
      handled.push(await handleSafely(deps, due, { config: backlog.config, trace: span?.context }));
    },
  );
  const [end] = await Promise.allSettled([handling]);
  const watched = await watching;
  await reviewSafely(deps);
  const count = (what: ScanResult) => handled.filter((one) => one === what).length;
  const counts = {
    enqueued: count('enqueued'),
    recovered: count('recovered'),
    deferred: count('deferred'),
    failed: count('failed'),
  };
  const { found, isCut, lagMs } = backlog;
  if (isCut) deps.log.warn('recovery_scan_cut', { found, handled: handled.length, lagMs });
  const published = Object.fromEntries(Object.entries(counts).map(([name, n]) => [publishedName(name), n]));
  deps.counts?.scan({ due: found, lagMs, handled: { ...published, skipped: count('skipped') } });
  span?.set({
    'cairn.scan.due': found,
    'cairn.scan.lag_ms': lagMs,
    'cairn.scan.recovered': counts.recovered,
  });
  span?.end();
  if (end.status === 'rejected') throw end.reason;
  if (found > 0 || watched > 0)
    deps.log.info('recovery_scan', { found, ...published, watched, isCut, off: false });
  return { found, ...counts, watched, isCut, off: false };
}

interface TickContext {
  readonly config: RuntimeConfig;
  readonly trace: TraceContext | undefined;
}

/** A run that cannot be handled, such as an undecodable one, must not block others. */
async function handleSafely(deps: EngineDeps, { run, as }: TakenRun, tick: TickContext): Promise<ScanResult> {
  try {
    return await (as === 'paused' ? defer(deps, run) : handle(deps, run, tick));
  } catch (error) {
    deps.log.error('scan_failed', { runId: run.runId, error: messageOf(error) });
    if (error instanceof StoreRefused)
      await endUnwritable(deps, { runId: run.runId, owner: undefined, refusal: error });
    return 'failed';
  }
}

/** The review of findings must not fail a tick. A finding that cannot be read now is read a minute later. */
async function reviewSafely(deps: EngineDeps): Promise<void> {
  try {
    await reviewFindings(deps);
  } catch (error) {
    deps.log.warn('findings_not_reviewed', { error: messageOf(error) });
  }
}

/**
 * Makes one write without a read of the document, because thousands of runs of a paused workflow become due again and again.
 */
async function defer(deps: EngineDeps, { runId, snapshotVersion: seen }: DueRun): Promise<ScanResult> {
  const { store } = countedStores(deps, new CostCounter({ reads: 1 }));
  const { kind } = await store.touch({ runId, seen, wakeAt: deferredUntil(deps) });
  return kind === 'stale' ? 'skipped' : 'deferred';
}

/**
 * Defers the run before it is handled, so that a run that kills its handler does not return immediately. The deferral exceeds a
 * minute only once the run has its task: if the scan dies in between, the run must not be without one for longer.
 */
async function handle(
  deps: EngineDeps,
  { runId, snapshotVersion, readySince }: DueRun,
  { config, trace }: TickContext,
): Promise<ScanResult> {
  // The run is billed for the query that found it.
  const own = { ...deps, ...countedStores(deps, new CostCounter({ reads: 1 })) };
  const { store, clock } = own;
  const now = clock.now();
  const checkMs = nextReadyCheckMs(readySince, now);
  const soon = now + Math.min(READY_GRACE_MS, checkMs);
  const moved = await store.touch({ runId, seen: snapshotVersion, wakeAt: soon });
  if (moved.kind === 'stale') return 'skipped';
  const loaded = await store.load(runId);
  if (!loaded) return 'skipped';
  if (pausedBy(config, loaded.state)) {
    await deferRun(own, loaded);
    return 'deferred';
  }
  const handled = await carryOut(own, loaded, trace);
  if (handled === 'enqueued' && checkMs > READY_GRACE_MS)
    await store.touch({ runId, seen: loaded.snapshotVersion, wakeAt: now + checkMs });
  return handled;
}

/** Decisions about runs that no dispatch would claim now. */
const IDLE: ReadonlySet<ClaimDecision['kind']> = new Set([
  'over',
  'early',
  'suspended',
  'waiting',
  'blocked',
]);

/**
 * Judges the run by `claimDecision`, as a dispatch would, and enqueues it. Three decisions are carried out here. A run with
 * nothing to do is deferred by one write, because a dispatch for each of thousands of waiting runs would cost a task and find
 * nothing. A buffered event is delivered. A dead run is recovered, so that a paused or full queue does not hide the death: its
 * interruption is in the journal, and the run among the suspects, before any delivery. Dispatch and scan recover with the same
 * `recoverRun`.
 */
async function carryOut(
  deps: EngineDeps,
  loaded: LoadedRun,
  trace: TraceContext | undefined,
): Promise<ScanResult> {
  const { clock } = deps;
  const { state } = loaded;
  const decision = claimDecision(observationOf(deps, loaded));
  // A dispatch of such a run publishes its events and runs no body, so it need not run alone.
  if (IDLE.has(decision.kind) && hasUnpublishedEvents(state, loaded.metadata))
    return enqueue(deps, loaded, { trace });
  const alone = runsAlone(state);
  switch (decision.kind) {
    case 'over':
      // The dispatch that ended the run died before it met its completion duties.
      return hasCompletionDuties(state) && !loaded.metadata.dutiesMet
        ? enqueue(deps, loaded, { trace })
        : 'skipped';
    case 'leased':
      // The holder may die before it writes `wakeAt` again.
      return enqueue(deps, loaded, { at: clock.now() + (decision.freeAt - loaded.readAt), alone, trace });
    case 'early':
      if ((await deliverReady(deps, state)) === 'not_yet')
        return checkAgain(deps, loaded, Math.min(LONGEST_CHECK_MS, decision.at - loaded.readAt));
      return enqueue(deps, loaded, { at: decision.at, alone, trace });
    case 'claim':
      return enqueue(deps, loaded, { alone, trace });
    case 'suspended':
      return checkAgain(deps, loaded, OPEN_WAIT_MS);
    case 'waiting':
      return checkAgain(
        deps,
        loaded,
        (await deliverReady(deps, state)) === 'not_yet' ? LONGEST_CHECK_MS : OPEN_WAIT_MS,
      );
    case 'blocked':
      // The run stays due every minute, because nothing records since when its plan is missing. If it is to be cancelled, a
      // dispatch learns from the stored plan whether that needs the deployed one.
      if (!decision.isRecorded) return state.cancellation ? enqueue(deps, loaded, { trace }) : 'skipped';
      return checkAgain(deps, loaded, nextBlockedCheckMs(state, clock.now()));
    case 'orphaned':
    case 'interrupted': {
      const { kind } = await recoverRun(deps, loaded, { by: trace });
      if (kind !== 'resumed') return kind === 'moved_on' ? 'skipped' : 'recovered';
      // The process that takes over an orphan makes it a suspect.
      await deps.queue.enqueue({
        runId: state.id,
        reason: 'resume',
        ...poolAndTenant(deps, state),
        alone: decision.kind === 'orphaned' || alone,
        trace,
      });
      return 'recovered';
    }
  }
}

/** Defers a run that has nothing to do before external input. */
async function checkAgain(deps: EngineDeps, loaded: LoadedRun, afterMs: number): Promise<ScanResult> {
  const { state, snapshotVersion: seen } = loaded;
  await deps.store.touch({ runId: state.id, seen, wakeAt: deps.clock.now() + afterMs });
  return 'skipped';
}

async function enqueue(
  deps: EngineDeps,
  { state, readAt }: LoadedRun,
  { at, alone, trace }: Pick<DriveTask, 'at' | 'alone' | 'trace'>,
): Promise<ScanResult> {
  const name = taskName(state.id, state.head, at ?? readAt);
  await deps.queue.enqueue({
    runId: state.id,
    reason: 'recovery',
    name,
    ...poolAndTenant(deps, state),
    alone,
    at,
    trace,
  });
  return 'enqueued';
}
