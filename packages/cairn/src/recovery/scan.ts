/**
 * Recovers runs that were not touched by `wakeAt` (J10): lost tasks, dead dispatches, due retries, blocked runs; and has those whose
 * worker has fallen silent checked when its lease ends. Safe to run concurrently.
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
 * Runs handled in parallel. Each waits for about four answers of Firestore and the queue, 20 to 100 ms together, so that a
 * tick handles some 10,000 of them; the memory of the function has room for 32 large ones.
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
  /** The time was up before all due runs had been handled: the next tick continues. */
  readonly isCut: boolean;
  /** The kill switch is on, or the installation is paused after a restore: nothing was checked. */
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

/** A finding that cannot be read now is read a minute later. */
async function reviewSafely(deps: EngineDeps): Promise<void> {
  try {
    await reviewFindings(deps);
  } catch (error) {
    deps.log.warn('findings_not_reviewed', { error: messageOf(error) });
  }
}

/** One write without a read of the document, because thousands of runs of a paused workflow become due again and again. */
async function defer(deps: EngineDeps, { runId, snapshotVersion: seen }: DueRun): Promise<ScanResult> {
  const { store } = countedStores(deps, new CostCounter({ reads: 1 }));
  const { kind } = await store.touch({ runId, seen, wakeAt: deferredUntil(deps) });
  return kind === 'stale' ? 'skipped' : 'deferred';
}

/**
 * The run is deferred before it is handled: one that kills its handler returns later, not immediately. It is deferred by more than a
 * minute only once it has its task: a scan that dies in between must not leave it without one for longer.
 */
async function handle(
  deps: EngineDeps,
  { runId, snapshotVersion, readySince }: DueRun,
  { config, trace }: TickContext,
): Promise<ScanResult> {
  // The query that found it is billed by the run.
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
 * Judges the run by `claimDecision`, as a dispatch would, and enqueues it. Three decisions are carried out here: a run with nothing
 * to do is put off by one write, since a dispatch for each of thousands of waiting runs would cost a task and find nothing; an
 * event that lies ready is delivered; and a dead run is recovered, so that its interruption is in the journal, and its run among
 * the suspects, before the queue delivers anything: a queue that is paused or full must not hide a death. Both recoveries are
 * `recoverRun`, which decides.
 */
async function carryOut(
  deps: EngineDeps,
  loaded: LoadedRun,
  trace: TraceContext | undefined,
): Promise<ScanResult> {
  const { clock } = deps;
  const { state } = loaded;
  const decision = claimDecision(observationOf(deps, loaded));
  // A dispatch of such a run publishes its events and runs no body, so it need not be alone.
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
      // The holder may die before it ever writes `wakeAt` again.
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
      // It is due again in a minute: nothing tells since when its plan is missing. If it is to be cancelled, a dispatch learns from the
      // stored plan whether that needs the deployed one.
      if (!decision.isRecorded) return state.cancellation ? enqueue(deps, loaded, { trace }) : 'skipped';
      return checkAgain(deps, loaded, nextBlockedCheckMs(state, clock.now()));
    case 'orphaned':
    case 'interrupted': {
      const { kind } = await recoverRun(deps, loaded, { by: trace });
      if (kind !== 'resumed') return kind === 'moved_on' ? 'skipped' : 'recovered';
      // The process that takes an orphan over makes it a suspect.
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

/** There is nothing to do before external input. */
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
