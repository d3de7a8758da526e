/**
 * One dispatch of the queue: takes the run if nobody else has it, moves it as far as it goes, and leaves it so that
 * somebody will go on. Any number of drives of one run may be under way; the journal lets one of them work.
 */
import { type ClaimVerdict, claimVerdict } from '../../core/decisions/claim.ts';
import { type RecoveryVerdict, recoveryVerdict } from '../../core/decisions/recovery.ts';
import { taskName } from '../../core/encoding/task-name.ts';
import { optional } from '../../core/optional.ts';
import type { EventDraft } from '../../core/run/events.ts';
import { isImporting, isOver, type RunState } from '../../core/run/state.ts';
import { wakeAt } from '../../core/run/wake.ts';
import type { TraceContext } from '../../core/trace.ts';
import { patientStore } from '../../journal/patient-store.ts';
import { RunJournal } from '../../journal/run-journal.ts';
import { countedStores } from '../../journal/spending/counted-stores.ts';
import { Spending } from '../../journal/spending/spending.ts';
import { setTo } from '../../ports/clock.ts';
import { ofRun } from '../../ports/log.ts';
import type { LoadedRun } from '../../ports/run-store.ts';
import type { DriveReason } from '../../ports/task-queue.ts';
import type { Workflow } from '../define/steps.ts';
import { deployedFor } from '../deployed.ts';
import type { EngineDeps } from '../deps.ts';
import { mayDrive, postpone } from '../gate.ts';
import { logEnd } from '../log-end.ts';
import { meetObligations } from '../obligations.ts';
import type { RunPublisher } from '../publish/run-publisher.ts';
import { publisherFor, settleEvents, type UnpublishedEvents, unpublishedOf } from '../publish/settle.ts';
import { recoverRun, verdictDrafts } from '../recover-run.ts';
import { runInput } from '../run-input.ts';
import { DriveAccount, type DriveRequest } from '../tracing/drive-account.ts';
import { Beats } from './bodies/beats.ts';
import { importRecorded } from './importing.ts';
import { DriveSession, type SessionEnd, type SessionParams } from './session.ts';

/** How a dispatch ended; for logs and tests. */
export type DriveEnd =
  | 'missing'
  /** Operators have paused it. */
  | 'held'
  | 'over'
  | 'leased'
  | 'early'
  | 'waiting'
  | 'recovered'
  | 'contended'
  | 'closed'
  | 'released'
  | 'suspended'
  | 'lease_lost';

/** A task that comes back is looked at this much after the lease should be free. */
const LEASE_MARGIN_MS = 1_000;
/** How often a drive looks again at a run that changed under its eyes before it leaves it to another task. */
const MAX_LOOKS = 5;

/**
 * Never throws for what a run or its workflow did. Throws what the store could not do (`OutcomeUnknown`, UNAVAILABLE)
 * and `NewerSchemaError`, on which the task must be tried again.
 */
export async function drive(deps: EngineDeps, task: DriveRequest): Promise<DriveEnd> {
  const account = new DriveAccount(deps, task);
  try {
    const end = await dispatch(deps, task, account);
    account.ended(end);
    return end;
  } catch (error) {
    account.failed(error);
    throw error;
  }
}

async function dispatch(deps: EngineDeps, task: DriveRequest, account: DriveAccount): Promise<DriveEnd> {
  // The task at hand is one of those that drove the run.
  const counted = countedStores(deps, new Spending({ tasks: 1 }));
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const loaded = await counted.store.load(task.runId);
    if (!loaded) {
      deps.log.warn('drive_without_run', { runId: task.runId });
      return 'missing';
    }
    account.found(loaded.state);
    // All that a drive says and waits for is in the store's time: due times come from processes with other clocks.
    const clock = setTo(deps.clock, loaded.readAt);
    const store = patientStore(counted.store, { clock, random: deps.random });
    const own = { ...deps, ...counted, clock, store };
    if (!(await mayDrive(deps, loaded.state))) {
      await postpone(own, loaded);
      return 'held';
    }
    const end = await act(own, loaded, account);
    if (end !== 'look_again') return end;
  }
  await deps.queue.enqueue({ runId: task.runId, reason: 'continue', ...optional('trace', account.trace) });
  return 'contended';
}

async function act(
  deps: EngineDeps,
  loaded: LoadedRun,
  account: DriveAccount,
): Promise<DriveEnd | 'look_again'> {
  const { settings, clock, queue } = deps;
  const verdict = claimVerdict({ ...loaded, leaseMs: settings.leaseMs });
  const runId = loaded.state.id;
  switch (verdict.kind) {
    case 'over':
      await meetObligations(deps, loaded.state, unpublishedOf(deps, loaded));
      return 'over';
    case 'leased': {
      // Named by the epoch: however many tasks find the run taken, one comes back for it.
      const at = clock.now() + (verdict.freeAt - loaded.readAt) + LEASE_MARGIN_MS;
      const name = taskName(runId, loaded.state.epoch, verdict.freeAt);
      await queue.enqueue({ runId, reason: 'lease_expiry', at, name, ...optional('trace', account.trace) });
      return 'leased';
    }
    case 'early':
      await settleRest(deps, loaded);
      // Unnamed: the task at hand may itself carry the name of this due time.
      await queue.enqueue({ runId, reason: 'early', at: verdict.at, ...optional('trace', account.trace) });
      return 'early';
    case 'orphaned':
    case 'interrupted': {
      const { kind } = await recoverRun(deps, loaded, account.by);
      // What it appended is published by who looks again; a parked run has nothing else for it.
      const goesOn = kind === 'resumed' || kind === 'moved_on' || deps.bus !== undefined;
      return goesOn ? 'look_again' : 'recovered';
    }
    case 'waiting':
      if (verdict.parked && deployedFor(deps.registry, loaded.state).available)
        return claimAndGo(deps, loaded, account);
      await settleRest(deps, loaded);
      return 'waiting';
    case 'claim':
      if (!restsWithoutPlan(loaded.state, verdictOf(deps, loaded.state)))
        return claimAndGo(deps, loaded, account);
      // It woke up before the version it needs was deployed: the scan looks again.
      await settleRest(deps, loaded);
      return 'waiting';
  }
}

/** Of a run that cannot be driven now, but of which not all may be published. */
function settleRest(deps: EngineDeps, loaded: LoadedRun): Promise<void> {
  return settleIf(deps, loaded.state, unpublishedOf(deps, loaded));
}

async function settleIf(deps: EngineDeps, state: RunState, events: UnpublishedEvents | undefined) {
  if (events) await settleEvents(deps, state, events);
}

/**
 * Whether the run was started by a parent that had ended, or given it up, before the start arrived: then nobody will
 * cancel it, since its cancellation came before it.
 */
async function isAbandoned({ store }: EngineDeps, child: RunState): Promise<RunState | undefined> {
  if (child.status !== 'pending' || !child.parent) return undefined;
  const parent = (await store.load(child.parent.runId))?.state;
  if (!parent) return undefined;
  const tie = parent.ties.find((one) => one.kind === 'child' && one.runId === child.id);
  const givenUp = isOver(parent) || !parent.waits.some((wait) => wait.child?.runId === child.id);
  return givenUp && tie?.kind === 'child' && tie.onParentEnd === 'cancel' ? parent : undefined;
}

async function claimAndGo(
  deps: EngineDeps,
  loaded: LoadedRun,
  account: DriveAccount,
): Promise<DriveEnd | 'look_again'> {
  const parent = await isAbandoned(deps, loaded.state);
  if (parent) {
    await deps.otherRuns.cancelChild(parent, loaded.state.id);
    return 'look_again';
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
): Promise<DriveEnd | 'look_again'> {
  const { clock, random, settings, registry, log } = deps;
  const budgetEndsAt = clock.now() + settings.budgetMs;
  const owner = random.token();
  const beats = new Beats(loaded.soft.inFlight);
  const journal = new RunJournal(deps, loaded, {
    ...settings,
    owner,
    progress: () => beats.takeNews(),
    ...optional('follower', publisher),
  });
  const { state, events } = await journal.append((current) => claimDrafts(deps, current, owner));
  if (events.length === 0) return 'look_again';
  account.took(state);
  log.debug('run_transition', {
    ...ofRun(state),
    from: loaded.state.status,
    to: state.status,
    initiator: 'system',
  });
  const unpublished = () => publisher && { publisher, seen: journal.snapshotVersion };
  if (state.lease?.owner !== owner) {
    if (!isOver(state)) {
      await settleIf(deps, state, unpublished());
      return 'waiting';
    }
    logEnd(log, state);
    await meetObligations(deps, state, unpublished());
    return 'closed';
  }

  const workflow = registry.pinned(state.type, state.planVersion) as Workflow;
  const end = await move({ deps, journal, workflow, budgetEndsAt, beats });
  // Also where it let go, and somebody ended it before this drive heard that it had.
  if (end.kind !== 'lease_lost' && isOver(journal.state)) {
    logEnd(log, journal.state);
    await meetObligations(deps, journal.state, unpublished());
    return 'closed';
  }
  const answeredByOthers = end.kind === 'suspended' && end.dueAt === undefined;
  if ((end.kind === 'released' || end.kind === 'suspended') && !answeredByOthers) {
    await goOnLater(deps, journal.state, { dueAt: end.dueAt, trace: account.trace });
  }
  // A run that goes on at once is claimed before anybody could note how far it is published.
  if (end.kind === 'released' && end.dueAt === undefined) await publisher?.flush();
  else if (end.kind !== 'lease_lost') await settleIf(deps, journal.state, unpublished());
  return end.kind;
}

/** A successor first takes over what its source had completed. */
async function move(params: Omit<SessionParams, 'input'>): Promise<SessionEnd> {
  const { deps, journal } = params;
  if (isImporting(journal.state)) {
    const end = await importRecorded(params);
    if (end !== 'done') return { kind: end };
  }
  const input = await runInput(deps.store, journal.state);
  return new DriveSession({ ...params, input }).run();
}

/** Takes the lease, if on the newest state it still may; what cannot be driven is parked or failed in the same commit. */
function claimDrafts(deps: EngineDeps, state: RunState, owner: string): EventDraft[] {
  const { clock, settings, registry } = deps;
  const now = clock.now();
  if (!isClaimable(state, claimVerdict({ state, soft: {}, readAt: now, leaseMs: settings.leaseMs })))
    return [];
  // What an earlier drive let go of in the middle is judged before anything runs.
  const verdict = verdictOf(deps, state);
  if (restsWithoutPlan(state, verdict)) return [];
  const drafts: EventDraft[] = [];
  if (isWaiting(state))
    drafts.push({
      type: 'run_resumed',
      initiator: 'system',
      data: { reason: state.waits.length > 0 ? 'its time has come' : 'what it was parked for is here' },
    });
  const claim = { owner, epoch: state.epoch + 1, expiresAt: now + settings.leaseMs };
  drafts.push({ type: 'run_claimed', initiator: 'system', data: claim });
  if (state.status === 'pending') {
    const timeoutMs = registry.pinned(state.type, state.planVersion)?.timeoutMs;
    const data = timeoutMs === undefined ? {} : { deadlineAt: now + timeoutMs };
    drafts.push({ type: 'run_started', initiator: 'system', data });
  }
  return [...drafts, ...verdictDrafts(state, verdict, now)];
}

function isWaiting({ status }: RunState): boolean {
  return status === 'waiting_external' || status === 'awaiting_approval';
}

/** Without its plan it stays as it is: it is parked already, or it takes steps over, and cannot be parked from there. */
function restsWithoutPlan(state: RunState, { kind }: RecoveryVerdict): boolean {
  return kind === 'park' && (isWaiting(state) || state.status === 'replaying');
}

function verdictOf({ registry }: EngineDeps, state: RunState): RecoveryVerdict {
  return recoveryVerdict(state, deployedFor(registry, state));
}

function isClaimable(state: RunState, verdict: ClaimVerdict): boolean {
  if (state.lease) return false;
  return verdict.kind === 'claim' || (verdict.kind === 'waiting' && verdict.parked);
}

/** The enqueue follows the acknowledgement of its commit; if it is lost, the scan finds the run by `wakeAt`. */
async function goOnLater(
  { queue }: EngineDeps,
  state: RunState,
  { dueAt, trace }: { readonly dueAt: number | undefined; readonly trace: TraceContext | undefined },
): Promise<void> {
  const reason: DriveReason = dueAt === undefined ? 'continue' : 'retry';
  const name = taskName(state.id, state.head, wakeAt(state) ?? state.updatedAt);
  await queue.enqueue({
    runId: state.id,
    reason,
    name,
    ...optional('at', dueAt),
    ...optional('trace', trace),
  });
}
