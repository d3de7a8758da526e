/**
 * One dispatch of the queue: loads the run, decides (`claimDecision`), and has one handler for each decision. It leaves the run in a
 * state from which it will be continued. Any number of dispatches of one run may be running; the journal lets one of them work.
 *
 * Must not: work on a run that it has not claimed (claimed-run.ts does, once it has).
 */
import type { AfterEnd } from '../../core/decisions/after-end.ts';
import { claimDecision, isAbandonedBy } from '../../core/decisions/claim.ts';
import { taskName } from '../../core/encoding/task-name.ts';
import type { RunState } from '../../core/run/state.ts';
import { CostCounter } from '../../journal/cost/cost-counter.ts';
import { countedStores } from '../../journal/cost/counted-stores.ts';
import { patientStore } from '../../journal/patient-store.ts';
import { setTo } from '../../ports/clock.ts';
import type { LoadedRun } from '../../ports/run-store.ts';
import { isOfDocument, StoreRefused } from '../../ports/store-errors.ts';
import type { DriveReason } from '../../ports/task-queue.ts';
import { deferRun, mayDrive } from '../admission.ts';
import { meetCompletionDuties } from '../completion-duties.ts';
import { learnPlan, observationOf } from '../definition-of-run.ts';
import type { EngineDeps } from '../deps.ts';
import { placementOf } from '../enqueue-soon.ts';
import { deliverBuffered } from '../mailbox/collect.ts';
import { unpublishedOf } from '../publish/unpublished.ts';
import { recoverRun } from '../recover-run.ts';
import { DriveAccount, type DriveRequest } from '../tracing/drive-account.ts';
import { endUnwritable } from '../unwritable.ts';
import { driveClaimed, enqueueNext } from './claimed-run.ts';
import { noteLateDeath } from './late-death.ts';

/** End of a dispatch; for logs and tests. `waiting` and `failed` are also ends of a run that it has claimed. */
export type DispatchEnd =
  | AfterEnd['reportedAs']
  | 'missing'
  /** Operators have paused its workflow, or suspended it. */
  | 'deferred'
  | 'over'
  | 'leased'
  | 'early'
  /** The run belongs to another queue: suspects run alone, and some workflows have their own functions. */
  | 'moved'
  | 'recovered'
  | 'contended'
  /** The store refused to write the run, so the run was ended. */
  | 'unwritable';

/** A deferred task is dispatched this long after the end of the lease. */
const LEASE_MARGIN_MS = 1_000;
/** Times a dispatch re-reads a run that changed concurrently before it leaves it to another task. */
const MAX_TRIES = 5;

/**
 * Failures of the run or its workflow are never thrown. Throws `OutcomeUnknown`, UNAVAILABLE and `NewerSchemaError`: the task must be
 * retried. Throws `StoreRefused` after a finding was recorded for the run, which stays leased.
 */
export async function drive(deps: EngineDeps, request: DriveRequest): Promise<DispatchEnd> {
  const account = new DriveAccount(deps, request);
  try {
    const end = await dispatch(deps, request, account);
    account.ended(end);
    return end;
  } catch (error) {
    const end = error instanceof StoreRefused ? await afterRefusal(deps, error, account) : undefined;
    if (!end) {
      account.failed(error);
      throw error;
    }
    account.ended(end);
    return end;
  }
}

/** Undefined: the run could not be written. */
async function afterRefusal(
  deps: EngineDeps,
  refusal: StoreRefused,
  { runId, owner, trace }: DriveAccount,
): Promise<DispatchEnd | undefined> {
  const end = await endUnwritable(deps, { runId, owner, refusal });
  switch (end.kind) {
    case 'ended':
      return 'unwritable';
    case 'released':
      await enqueueNext(deps, end.state, { at: end.dueAt, trace });
      return 'failed';
    case 'named':
      return undefined;
  }
}

/** Repeats load and decision until the decision could be carried out. */
async function dispatch(
  deps: EngineDeps,
  request: DriveRequest,
  account: DriveAccount,
): Promise<DispatchEnd> {
  const { runId, alone, pool } = request;
  // The current task is part of the run's bill.
  const counted = countedStores(deps, new CostCounter({ tasks: 1 }));
  let tenantId: string | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const loaded = await counted.store.load(runId);
    if (!loaded) {
      deps.log.warn('drive_without_run', { runId });
      return 'missing';
    }
    account.found(loaded.state);
    tenantId = loaded.state.tenantId;
    // A dispatch works in the store's time, because due times come from processes with other clocks.
    const clock = setTo(deps.clock, loaded.readAt);
    const store = patientStore(counted.store, { clock, random: deps.random });
    const own = { ...deps, ...counted, clock, store };
    if (await noteLateDeath(own, loaded, account)) continue;
    if (!(await mayDrive(deps, loaded.state))) {
      await deferRun(own, loaded);
      return 'deferred';
    }
    await learnPlan(deps, loaded.state);
    const end = await carryOut(own, loaded, account);
    if (end !== 'try_again') return end;
  }
  await deps.queue.enqueue({ runId, reason: 'continue', tenantId, alone, pool, trace: account.trace });
  return 'contended';
}

type Handled = DispatchEnd | 'try_again';

async function carryOut(deps: EngineDeps, loaded: LoadedRun, account: DriveAccount): Promise<Handled> {
  const decision = claimDecision(observationOf(deps, loaded, account));
  switch (decision.kind) {
    case 'claim':
      return claim(deps, loaded, account);
    case 'leased':
      // The scan checks a leased run again itself.
      if (!account.watches) await enqueueAfterLease(deps, loaded, { ...decision, account });
      return 'leased';
    case 'orphaned':
    case 'interrupted': {
      const { kind } = await recoverRun(deps, loaded, account);
      // The next scan publishes the appended events, because a blocked run has no other dispatch.
      const continues = kind === 'resumed' || kind === 'moved_on' || deps.bus !== undefined;
      return continues ? 'try_again' : 'recovered';
    }
    case 'early':
      if (await deliverBuffered(deps, loaded.state)) return 'try_again';
      await settle(deps, loaded);
      // The task has no name, because the current task may have the name of this due time.
      await deps.queue.enqueue({ reason: 'early', at: decision.at, ...taskOf(deps, loaded.state, account) });
      return 'early';
    case 'waiting':
      if (await deliverBuffered(deps, loaded.state)) return 'try_again';
      await settle(deps, loaded);
      return 'waiting';
    case 'blocked':
      await settle(deps, loaded);
      return 'waiting';
    case 'suspended':
      await settle(deps, loaded);
      return 'deferred';
    case 'over':
      await settle(deps, loaded);
      return 'over';
  }
}

async function claim(deps: EngineDeps, loaded: LoadedRun, account: DriveAccount): Promise<Handled> {
  const { state } = loaded;
  if (await deliverBuffered(deps, state)) return 'try_again';
  if (await handedOver(deps, state, account)) return 'moved';
  if (await cancelledForParent(deps, state)) return 'try_again';
  return driveClaimed(deps, loaded, account);
}

/** Cancels a child that its parent has abandoned before it started. */
async function cancelledForParent(deps: EngineDeps, child: RunState): Promise<boolean> {
  if (child.status !== 'pending' || !child.parent) return false;
  const parent = await readableParent(deps, child.id, child.parent.runId);
  if (!parent || !isAbandonedBy(parent, child.id)) return false;
  await deps.otherRuns.cancelChild(parent, child.id);
  return true;
}

/** Undefined for a parent that is damaged, or that a newer version wrote: it may stay so, and children are rarely abandoned this early. */
async function readableParent(
  { store, log }: EngineDeps,
  runId: string,
  parent: string,
): Promise<RunState | undefined> {
  try {
    return (await store.load(parent))?.state;
  } catch (error) {
    if (!isOfDocument(error)) throw error;
    log.warn('parent_unreadable', { runId, parent, error: error.message });
    return undefined;
  }
}

/** Named by the epoch, so that all tasks that find the run leased enqueue one dispatch. */
async function enqueueAfterLease(
  deps: EngineDeps,
  { state, readAt }: LoadedRun,
  { freeAt, account }: { readonly freeAt: number; readonly account: DriveAccount },
): Promise<void> {
  const at = deps.clock.now() + (freeAt - readAt) + LEASE_MARGIN_MS;
  const name = taskName(state.id, state.epoch, freeAt);
  await deps.queue.enqueue({ reason: 'lease_expiry', at, name, ...taskOf(deps, state, account) });
}

function taskOf(deps: EngineDeps, state: RunState, { trace }: DriveAccount) {
  return { runId: state.id, ...placementOf(deps, state), trace };
}

/** Publishes events of a run that cannot be dispatched now, and meets its completion duties if it is over. */
function settle(deps: EngineDeps, loaded: LoadedRun): Promise<void> {
  return meetCompletionDuties(deps, loaded.state, unpublishedOf(deps, loaded));
}

/**
 * Hands the run to its own queue unless the dispatch came from it: suspects run alone, and some workflows have separate
 * functions. Returns true if it did.
 */
async function handedOver(deps: EngineDeps, state: RunState, account: DriveAccount): Promise<boolean> {
  const place = placementOf(deps, state);
  const staysInCompany = place.alone === account.isAlone;
  if (staysInCompany && place.pool === account.pool) return false;
  const reason: DriveReason = staysInCompany ? 'continue' : place.alone ? 'suspect' : 'cleared';
  // The task has no name, because the run may have to move again before anything is appended.
  await deps.queue.enqueue({ runId: state.id, reason, ...place, trace: account.trace });
  return true;
}
