/**
 * One dispatch of the queue: claims the run if it is free, executes it as far as possible, and leaves it in a state from which
 * it will be continued. Any number of drives of one run may be running; the journal lets one of them work.
 */
import { type ClaimDecision, claimDecision } from '../../core/decisions/claim.ts';
import { type RecoveryDecision, recoveryDecision } from '../../core/decisions/recovery.ts';
import { taskName } from '../../core/encoding/task-name.ts';
import type { EventData, EventDraft } from '../../core/run/events.ts';
import { isImporting, isOver, type RunState } from '../../core/run/state.ts';
import { wakeAt } from '../../core/run/wake.ts';
import { messageOf } from '../../core/thrown.ts';
import type { TraceContext } from '../../core/trace.ts';
import { patientStore } from '../../journal/patient-store.ts';
import { RunJournal } from '../../journal/run-journal.ts';
import { countedStores } from '../../journal/spending/counted-stores.ts';
import { Spending } from '../../journal/spending/spending.ts';
import { setTo } from '../../ports/clock.ts';
import type { LoadedRun } from '../../ports/run-store.ts';
import { StoreRefused } from '../../ports/store-errors.ts';
import type { DriveReason } from '../../ports/task-queue.ts';
import type { Workflow } from '../define/steps.ts';
import { deployedFor, learnPlan, limitsOf, workflowOf } from '../deployed.ts';
import type { EngineDeps } from '../deps.ts';
import { restoreBefore } from '../effects/restored.ts';
import { placed } from '../enqueue-soon.ts';
import { mayDrive, postpone } from '../gate.ts';
import { deliverBuffered } from '../mailbox/collect.ts';
import { meetObligations } from '../obligations.ts';
import type { RunPublisher } from '../publish/run-publisher.ts';
import { publisherFor, settleEvents, type UnpublishedEvents, unpublishedOf } from '../publish/settle.ts';
import { observation, recoverRun, recoveryDecisionDrafts } from '../recover-run.ts';
import { runInput } from '../run-input.ts';
import { DriveAccount, type DriveRequest } from '../tracing/drive-account.ts';
import { endUnwritable, nameIfStuck } from '../unwritable.ts';
import { BodyReport } from './bodies/body-report.ts';
import { maskedError } from './bodies/masking.ts';
import type { SessionEnd } from './closing.ts';
import { handedOver } from './hand-over.ts';
import { importRecorded } from './importing.ts';
import { noteLateDeath } from './late-death.ts';
import { restedForPolicy } from './policy-answer.ts';
import { releaseFailed } from './release-failed.ts';
import { DriveSession } from './session.ts';
import type { HeldRun } from './working.ts';

/** End of a dispatch; for logs and tests. */
export type DriveEnd =
  | 'missing'
  /** Operators have paused its workflow, or suspended it. */
  | 'held'
  | 'over'
  | 'leased'
  | 'early'
  /** The run belongs to another queue: suspects run alone, and some workflows have their own functions. */
  | 'moved'
  | 'waiting'
  | 'recovered'
  | 'contended'
  | 'closed'
  | 'released'
  | 'suspended'
  | 'lease_lost'
  /** The dispatch threw, and released the run until later. */
  | 'failed'
  /** The store refused to write it, and it was ended for that. */
  | 'unwritable';

/** A postponed task is dispatched this long after the end of the lease. */
const LEASE_MARGIN_MS = 1_000;
/** Times a drive re-reads a run that changed concurrently before it leaves it to another task. */
const MAX_TRIES = 5;

/**
 * Failures of the run or its workflow are never thrown. Throws `OutcomeUnknown`, UNAVAILABLE and `NewerSchemaError`: the task must be
 * retried. Throws `StoreRefused` after a finding was recorded for the run, which stays leased.
 */
export async function drive(deps: EngineDeps, task: DriveRequest): Promise<DriveEnd> {
  const account = new DriveAccount(deps, task);
  try {
    const end = await dispatch(deps, task, account);
    account.ended(end);
    return end;
  } catch (error) {
    if (error instanceof StoreRefused) {
      const end = await endUnwritable(deps, { runId: task.runId, owner: account.owner, refusal: error });
      if (end.kind === 'released')
        await enqueueNext(deps, end.state, { dueAt: end.dueAt, trace: account.trace });
      if (end.kind !== 'named') {
        const how = end.kind === 'ended' ? 'unwritable' : 'failed';
        account.ended(how);
        return how;
      }
    }
    account.failed(error);
    throw error;
  }
}

async function dispatch(deps: EngineDeps, task: DriveRequest, account: DriveAccount): Promise<DriveEnd> {
  // The current task is part of the run's bill.
  const counted = countedStores(deps, new Spending({ tasks: 1 }));
  let tenantId: string | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const loaded = await counted.store.load(task.runId);
    if (!loaded) {
      deps.log.warn('drive_without_run', { runId: task.runId });
      return 'missing';
    }
    account.found(loaded.state);
    tenantId = loaded.state.tenantId;
    // A drive works in the store's time, because due times come from processes with other clocks.
    const clock = setTo(deps.clock, loaded.readAt);
    const store = patientStore(counted.store, { clock, random: deps.random });
    const own = { ...deps, ...counted, clock, store };
    if (await noteLateDeath(own, loaded, account)) continue;
    if (!(await mayDrive(deps, loaded.state))) {
      await postpone(own, loaded);
      return 'held';
    }
    await learnPlan(deps, loaded.state);
    const end = await act(own, loaded, account);
    if (end !== 'try_again') return end;
  }
  await deps.queue.enqueue({
    runId: task.runId,
    reason: 'continue',
    tenantId,
    alone: task.alone,
    pool: task.pool,
    trace: account.trace,
  });
  return 'contended';
}

async function act(
  deps: EngineDeps,
  loaded: LoadedRun,
  account: DriveAccount,
): Promise<DriveEnd | 'try_again'> {
  const { clock, queue } = deps;
  const decision = claimDecision(observation(deps, loaded, account));
  const runId = loaded.state.id;
  const { trace } = account;
  const more = { ...placed(deps, loaded.state), alone: loaded.state.suspect?.alone, trace };
  switch (decision.kind) {
    case 'over':
      await meetObligations(deps, loaded.state, unpublishedOf(deps, loaded));
      return 'over';
    case 'leased': {
      if (account.watches) return 'leased';
      // Named by the epoch, so that all tasks that find the run leased enqueue one dispatch.
      const at = clock.now() + (decision.freeAt - loaded.readAt) + LEASE_MARGIN_MS;
      const name = taskName(runId, loaded.state.epoch, decision.freeAt);
      await queue.enqueue({ runId, reason: 'lease_expiry', at, name, ...more });
      return 'leased';
    }
    case 'early':
      if (await deliverBuffered(deps, loaded.state)) return 'try_again';
      await settleRemaining(deps, loaded);
      // Without a name, because the current task may carry the name of this due time itself.
      await queue.enqueue({ runId, reason: 'early', at: decision.at, ...more });
      return 'early';
    case 'orphaned':
    case 'interrupted': {
      const { kind } = await recoverRun(deps, loaded, { by: account.by, delivery: account.delivery });
      // Its appends are published by the next scan; a blocked run has no other dispatch.
      const continues = kind === 'resumed' || kind === 'moved_on' || deps.bus !== undefined;
      return continues ? 'try_again' : 'recovered';
    }
    case 'waiting':
      if (decision.parked && deployedFor(deps.registry, loaded.state).available)
        return claimAndGo(deps, loaded, account);
      if (await deliverBuffered(deps, loaded.state)) return 'try_again';
      await settleRemaining(deps, loaded);
      return 'waiting';
    case 'suspended':
      await settleRemaining(deps, loaded);
      return 'held';
    case 'claim':
      if (!restsWithoutPlan(loaded.state, recoveryDecisionOf(deps, loaded.state)))
        return (await deliverBuffered(deps, loaded.state)) ? 'try_again' : claimAndGo(deps, loaded, account);
      // The version it needs is not deployed yet: the scan checks again.
      await settleRemaining(deps, loaded);
      return 'waiting';
  }
}

/** Publishes events of a run that cannot be dispatched now. */
function settleRemaining(deps: EngineDeps, loaded: LoadedRun): Promise<void> {
  return settleIf(deps, loaded.state, unpublishedOf(deps, loaded));
}

async function settleIf(deps: EngineDeps, state: RunState, events: UnpublishedEvents | undefined) {
  if (events) await settleEvents(deps, state, events);
}

/**
 * Returns the parent if it had ended or abandoned the child before the child's start: its cancellation came too early, so it
 * will not cancel the child.
 */
async function isAbandoned({ store }: EngineDeps, child: RunState): Promise<RunState | undefined> {
  if (child.status !== 'pending' || !child.parent) return undefined;
  const parent = (await store.load(child.parent.runId))?.state;
  if (!parent) return undefined;
  const tie = parent.ties.find((one) => one.kind === 'child' && one.runId === child.id);
  const givenUp = isOver(parent) || !parent.waits.some((wait) => wait.child?.runId === child.id);
  return givenUp && tie?.kind === 'child' && tie.onParentEnd !== 'abandon' ? parent : undefined;
}

async function claimAndGo(
  deps: EngineDeps,
  loaded: LoadedRun,
  account: DriveAccount,
): Promise<DriveEnd | 'try_again'> {
  if (await handedOver(deps, loaded.state, account)) return 'moved';
  const parent = await isAbandoned(deps, loaded.state);
  if (parent) {
    await deps.otherRuns.cancelChild(parent, loaded.state.id);
    return 'try_again';
  }
  const publisher = publisherFor(deps, loaded);
  try {
    return await claimed(deps, loaded, { publisher, account });
  } finally {
    publisher?.end();
  }
}

async function claimed(
  deps: EngineDeps,
  loaded: LoadedRun,
  { publisher, account }: { readonly publisher: RunPublisher | undefined; readonly account: DriveAccount },
): Promise<DriveEnd | 'try_again'> {
  const owner = deps.random.token();
  try {
    return await driveHeld(deps, loaded, { publisher, account, owner });
  } catch (error) {
    // The same append would be refused again, so the run is ended or gets a finding.
    if (error instanceof StoreRefused && error.reason === 'request') throw error;
    const runId = loaded.state.id;
    deps.log.warn('drive_failed', { runId, error: messageOf(error) });
    const released = await releaseFailed(deps, { runId, owner, error }).catch((refusal: unknown) => {
      deps.log.warn('drive_not_released', { runId, error: messageOf(refusal) });
    });
    if (!released) throw error;
    await nameIfStuck(deps, released.state);
    await enqueueNext(deps, released.state, { dueAt: released.dueAt, trace: account.trace });
    return 'failed';
  }
}

interface Holding {
  readonly publisher: RunPublisher | undefined;
  readonly account: DriveAccount;
  readonly owner: string;
}

async function driveHeld(
  deps: EngineDeps,
  loaded: LoadedRun,
  { publisher, account, owner }: Holding,
): Promise<DriveEnd | 'try_again'> {
  const { clock, settings, registry } = deps;
  const { isAsked, isAlone: alone } = account;
  const restoredAt = await restoreBefore(deps, loaded.state);
  const budgetEndsAt = clock.now() + settings.budgetMs;
  const report = new BodyReport(loaded.soft);
  const journal = new RunJournal(deps, loaded, {
    ...settings,
    owner,
    bodies: report,
    follower: publisher,
  });
  const { state, events } = await journal.append((current) =>
    claimDrafts(deps, current, { owner, isAsked, ...account.task, ...(alone && { alone }) }),
  );
  if (events.length === 0) return 'try_again';
  account.took(state);
  const unpublished = () =>
    publisher && !publisher.isNoted ? { publisher, seen: journal.snapshotVersion } : undefined;
  if (state.lease?.owner !== owner) {
    if (!isOver(state)) {
      await settleIf(deps, state, unpublished());
      return 'waiting';
    }
    await meetObligations(deps, state, unpublished());
    return 'closed';
  }

  const workflow = workflowOf(registry, state) as Workflow;
  const end = await move({
    deps,
    journal,
    workflow,
    budgetEndsAt,
    report,
    alone,
    restoredAt,
    restedMs: restedForPolicy(loaded.state),
  });
  // Also if it released the run, and another process ended it before this drive was informed.
  if (end.kind !== 'lease_lost' && isOver(journal.state)) {
    await meetObligations(deps, journal.state, unpublished());
    return 'closed';
  }
  const answeredByOthers = end.kind === 'suspended' && end.dueAt === undefined;
  if ((end.kind === 'released' || end.kind === 'suspended') && !answeredByOthers) {
    await enqueueNext(deps, journal.state, { dueAt: end.dueAt, trace: account.trace });
  }
  if (end.kind === 'released') await nameIfStuck(deps, journal.state);
  // A run that continues at once is claimed before its watermark could be written.
  if (end.kind === 'released' && end.dueAt === undefined) await publisher?.flush();
  else if (end.kind !== 'lease_lost') await settleIf(deps, journal.state, unpublished());
  return end.kind;
}

/** A successor first takes over what its source had completed. */
async function move(params: Omit<HeldRun, 'input'>): Promise<SessionEnd> {
  const { deps, journal } = params;
  if (isImporting(journal.state)) {
    const end = await importRecorded(params);
    if (end !== 'done') return { kind: end };
  }
  const input = await runInput(deps.store, journal.state);
  try {
    return await new DriveSession({ ...params, input }).run();
  } catch (error) {
    throw maskedError(error, { workflow: params.workflow, input });
  }
}

type ClaimedBy = Pick<EventData['run_claimed'], 'owner' | 'task' | 'alone'> & Pick<DriveAccount, 'isAsked'>;

/** Takes the lease, if on the newest state it still may; what cannot be driven is parked or failed in the same commit. */
function claimDrafts(deps: EngineDeps, state: RunState, { isAsked, ...by }: ClaimedBy): EventDraft[] {
  const { clock, settings, registry } = deps;
  const now = clock.now();
  const seen = observation(deps, { state, soft: {}, readAt: now }, { isAsked });
  if (!isClaimable(state, claimDecision(seen))) return [];
  // Steps that an earlier drive left running are decided before anything runs.
  const decision = recoveryDecisionOf(deps, state);
  if (restsWithoutPlan(state, decision)) return [];
  const drafts: EventDraft[] = [];
  if (isWaiting(state))
    drafts.push({
      type: 'run_resumed',
      initiator: 'system',
      data: {
        reason: state.waits.length > 0 ? 'its time has come' : 'the reason for parking no longer applies',
      },
    });
  const isNew = state.status === 'pending';
  const limits = limitsOf(registry, state, now);
  const claim = { ...by, epoch: state.epoch + 1, expiresAt: now + settings.leaseMs };
  drafts.push({ type: 'run_claimed', initiator: 'system', data: { ...claim, ...(isNew ? {} : limits) } });
  if (isNew) drafts.push({ type: 'run_started', initiator: 'system', data: limits });
  return [...drafts, ...recoveryDecisionDrafts(state, decision, now)];
}

function isWaiting({ status }: RunState): boolean {
  return status === 'waiting_external' || status === 'awaiting_approval';
}

/** Without its plan it is left unchanged: it is blocked already, or it is importing steps, during which it cannot become blocked. */
function restsWithoutPlan(state: RunState, { kind }: RecoveryDecision): boolean {
  return kind === 'park' && (isWaiting(state) || state.status === 'replaying');
}

function recoveryDecisionOf({ registry }: EngineDeps, state: RunState): RecoveryDecision {
  return recoveryDecision(state, deployedFor(registry, state));
}

function isClaimable(state: RunState, decision: ClaimDecision): boolean {
  if (state.lease) return false;
  return decision.kind === 'claim' || (decision.kind === 'waiting' && decision.parked);
}

/** The enqueue follows the acknowledgement of its commit; if it is lost, the scan finds the run by `wakeAt`. */
async function enqueueNext(
  deps: EngineDeps,
  state: RunState,
  { dueAt, trace }: { readonly dueAt: number | undefined; readonly trace: TraceContext | undefined },
): Promise<void> {
  const reason: DriveReason = dueAt === undefined ? 'continue' : 'retry';
  const name = taskName(state.id, state.head, wakeAt(state) ?? state.updatedAt);
  await deps.queue.enqueue({
    runId: state.id,
    reason,
    name,
    ...placed(deps, state),
    alone: state.suspect?.alone,
    at: dueAt,
    trace,
  });
}
