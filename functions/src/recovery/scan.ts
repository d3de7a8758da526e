/**
 * Finds runs that nobody touched by the time somebody must have (`wakeAt`, J10): lost tasks, dead drives, due
 * retries, parked runs. Safe to run any number of times at once.
 */
import { claimVerdict } from '../core/decisions/claim.ts';
import { taskName } from '../core/encoding/task-name.ts';
import { PARKED_MS, READY_GRACE_MS } from '../core/run/wake.ts';
import { deployedFor } from '../engine/deployed.ts';
import type { EngineDeps } from '../engine/deps.ts';
import { recoverRun } from '../engine/recover-run.ts';
import type { DueRun, LoadedRun } from '../ports/run-store.ts';

/** Runs looked at in one tick: what a tick can carry out well inside a minute; the next tick goes on with the rest. */
export const SCAN_LIMIT = 200;
/** Runs looked at in parallel. */
const SCAN_CONCURRENCY = 16;

export interface ScanReport {
  readonly found: number;
  readonly enqueued: number;
  readonly recovered: number;
  /** Runs that could not be handled; each is logged, and left for a later tick. */
  readonly failed: number;
}

type Handled = 'enqueued' | 'recovered' | 'skipped' | 'failed';

export async function scan(deps: EngineDeps): Promise<ScanReport> {
  const due = await deps.store.dueRuns(deps.clock.now(), SCAN_LIMIT);
  const handled: Handled[] = [];
  const waiting = [...due];
  const workers = Array.from({ length: SCAN_CONCURRENCY }, async () => {
    for (let run = waiting.shift(); run; run = waiting.shift()) handled.push(await handleSafely(deps, run));
  });
  await Promise.all(workers);
  const count = (what: Handled) => handled.filter((one) => one === what).length;
  return {
    found: due.length,
    enqueued: count('enqueued'),
    recovered: count('recovered'),
    failed: count('failed'),
  };
}

/** A run that cannot be handled, be it undecodable, must not keep the others from being seen. */
async function handleSafely(deps: EngineDeps, run: DueRun): Promise<Handled> {
  try {
    return await handle(deps, run);
  } catch (error) {
    deps.log.error('scan_failed', {
      runId: run.runId,
      error: error instanceof Error ? error.message : String(error),
    });
    return 'failed';
  }
}

/** First out of the window, then the work: a run that kills its handler comes back later instead of at once. */
async function handle(deps: EngineDeps, { runId, snapshotVersion }: DueRun): Promise<Handled> {
  const { store, clock } = deps;
  const moved = await store.touch({ runId, seen: snapshotVersion, wakeAt: clock.now() + READY_GRACE_MS });
  if (moved.kind === 'stale') return 'skipped';
  const loaded = await store.load(runId);
  return loaded ? act(deps, loaded) : 'skipped';
}

async function act(deps: EngineDeps, loaded: LoadedRun): Promise<Handled> {
  const { settings, clock } = deps;
  const { state } = loaded;
  const verdict = claimVerdict({ ...loaded, leaseMs: settings.leaseMs });
  switch (verdict.kind) {
    case 'over':
      return 'skipped';
    case 'leased':
      // The holder may die before it ever writes `wakeAt` again.
      return enqueue(deps, loaded, clock.now() + (verdict.freeAt - loaded.readAt));
    case 'early':
      return enqueue(deps, loaded, verdict.at);
    case 'claim':
      return enqueue(deps, loaded);
    case 'waiting':
      return verdict.parked ? unpark(deps, loaded) : 'skipped';
    case 'orphaned':
    case 'interrupted': {
      const { kind } = await recoverRun(deps, loaded);
      if (kind !== 'resumed') return kind === 'moved_on' ? 'skipped' : 'recovered';
      await deps.queue.enqueue({ runId: state.id, reason: 'resume' });
      return 'recovered';
    }
  }
}

/** A parked run is driven again once what it waited for is deployed, and looked at again until then. */
async function unpark(deps: EngineDeps, loaded: LoadedRun): Promise<Handled> {
  if (deployedFor(deps.registry, loaded.state).available) return enqueue(deps, loaded);
  const { state, snapshotVersion } = loaded;
  await deps.store.touch({ runId: state.id, seen: snapshotVersion, wakeAt: deps.clock.now() + PARKED_MS });
  return 'skipped';
}

async function enqueue(deps: EngineDeps, { state, readAt }: LoadedRun, at?: number): Promise<Handled> {
  const name = taskName(state.id, state.head, at ?? readAt);
  await deps.queue.enqueue({
    runId: state.id,
    reason: 'recovery',
    name,
    ...(at === undefined ? {} : { at }),
  });
  return 'enqueued';
}
