/**
 * The part of a dispatch that holds the run's lease: claims the run, imports the results of its source, runs a session, and does
 * what `afterEnd` decides.
 *
 * Must not: decide whether the run may be claimed (claim.ts), or what is left to do after the end (after-end.ts).
 */
import { type AfterEnd, afterEnd, type ClaimedEnd, type SessionEnd } from '../../core/decisions/after-end.ts';
import { claimDecision } from '../../core/decisions/claim.ts';
import { recoveryDecision } from '../../core/decisions/recovery.ts';
import { taskName } from '../../core/encoding/task-name.ts';
import type { EventDraft } from '../../core/run/events.ts';
import { isImporting, isOver, type RunState } from '../../core/run/state.ts';
import { wakeAt } from '../../core/run/wake.ts';
import { messageOf } from '../../core/thrown.ts';
import { RunJournal } from '../../journal/run-journal.ts';
import type { LoadedRun } from '../../ports/run-store.ts';
import { StoreRefused } from '../../ports/store-errors.ts';
import type { DriveTask } from '../../ports/task-queue.ts';
import { meetCompletionDuties } from '../completion-duties.ts';
import type { Workflow } from '../define/steps.ts';
import { limitsOf, observationOf, workflowOf } from '../definition-of-run.ts';
import type { EngineDeps } from '../deps.ts';
import { restoreBefore } from '../effects/restored.ts';
import { placementOf } from '../enqueue-soon.ts';
import type { RunPublisher } from '../publish/run-publisher.ts';
import { publisherFor } from '../publish/unpublished.ts';
import { recoveryDecisionDrafts } from '../recover-run.ts';
import { runInput } from '../run-input.ts';
import type { DriveAccount } from '../tracing/drive-account.ts';
import { nameIfStuck } from '../unwritable.ts';
import { BodyReport } from './bodies/body-report.ts';
import { maskedError } from './bodies/masking.ts';
import type { LeasedRun } from './dispatch-state.ts';
import { importRecorded } from './importing.ts';
import { restedForPolicy } from './policy-answer.ts';
import { releaseFailed } from './release-failed.ts';
import { DriveSession } from './session.ts';

type ClaimedResult = AfterEnd['reportedAs'] | 'try_again';

/**
 * `try_again`: the run has changed since it was loaded, and is not claimed.
 *
 * @throws StoreRefused if the run cannot be written, and other errors if it could not be released after them
 */
export async function driveClaimed(
  deps: EngineDeps,
  loaded: LoadedRun,
  account: DriveAccount,
): Promise<ClaimedResult> {
  const owner = deps.random.token();
  const publisher = publisherFor(deps, loaded);
  try {
    return await claimAndDrive({ deps, loaded, account, owner, publisher });
  } catch (error) {
    // The same append would be refused again, so the run is ended or gets a finding.
    if (error instanceof StoreRefused && error.reason === 'request') throw error;
    const runId = loaded.state.id;
    deps.log.warn('drive_failed', { runId, error: messageOf(error) });
    const released = await releaseFailed(deps, { runId, owner, error }).catch((refusal: unknown) => {
      deps.log.warn('drive_not_released', { runId, error: messageOf(refusal) });
    });
    if (!released) throw error;
    const { state, dueAt } = released;
    return await finish({ deps, account, state }, { kind: 'failed', dueAt });
  } finally {
    publisher?.end();
  }
}

interface Claiming {
  readonly deps: EngineDeps;
  readonly loaded: LoadedRun;
  readonly account: DriveAccount;
  /** Owner of the lease. */
  readonly owner: string;
  readonly publisher: RunPublisher | undefined;
}

async function claimAndDrive(claiming: Claiming): Promise<ClaimedResult> {
  const { deps, loaded, account, owner, publisher } = claiming;
  const { clock, settings, registry } = deps;
  const restoredAt = await restoreBefore(deps, loaded.state);
  const budgetEndsAt = clock.now() + settings.budgetMs;
  const report = new BodyReport(loaded.metadata);
  const journal = new RunJournal(deps, loaded, { ...settings, owner, bodies: report, follower: publisher });
  const claim = await journal.append((current) => claimDrafts(current, claiming));
  if (claim.events.length === 0) return 'try_again';
  account.took(claim.state);
  let end: ClaimedEnd = { kind: 'not_begun' };
  if (claim.state.lease?.owner === owner) {
    const workflow = workflowOf(registry, claim.state) as Workflow;
    const restedMs = restedForPolicy(loaded.state);
    const alone = account.isAlone;
    end = await importAndRun({ deps, journal, workflow, budgetEndsAt, report, alone, restoredAt, restedMs });
  }
  return finish({ deps, account, state: journal.state, journal, publisher }, end);
}

/**
 * Takes the lease if the newest state still allows it; a run that cannot be driven is suspended or failed in the same commit.
 */
function claimDrafts(state: RunState, { deps, account, owner }: Claiming): EventDraft[] {
  const { clock, settings, registry } = deps;
  const now = clock.now();
  const { skipsBackoff, isAlone, task } = account;
  const seen = observationOf(deps, { state, metadata: {}, readAt: now }, { skipsBackoff });
  if (claimDecision(seen).kind !== 'claim') return [];
  const limits = limitsOf(registry, state, now);
  const isNew = state.status === 'pending';
  const lease = { owner, epoch: state.epoch + 1, expiresAt: now + settings.leaseMs };
  const data = { ...lease, ...task, ...(isAlone && ({ alone: true } as const)), ...(!isNew && limits) };
  return [
    ...resumedDrafts(state),
    { type: 'run_claimed', initiator: 'system', data },
    ...(isNew ? [{ type: 'run_started', initiator: 'system', data: limits } as const] : []),
    // Steps that an earlier dispatch left running are decided before anything runs.
    ...recoveryDecisionDrafts(state, recoveryDecision(state, seen.deployed), now),
  ];
}

function resumedDrafts({ status, waits }: RunState): EventDraft[] {
  if (status !== 'waiting_external' && status !== 'awaiting_approval') return [];
  const reason = waits.length > 0 ? 'its time has come' : 'the reason for the block no longer applies';
  return [{ type: 'run_resumed', initiator: 'system', data: { reason } }];
}

/** A successor first takes over what its source had completed. */
async function importAndRun(run: Omit<LeasedRun, 'input'>): Promise<SessionEnd> {
  const { deps, journal, workflow } = run;
  if (isImporting(journal.state)) {
    const end = await importRecorded(run);
    if (end !== 'done') return { kind: end };
  }
  const input = await runInput(deps.store, journal.state);
  try {
    return await new DriveSession({ ...run, input }).run();
  } catch (error) {
    throw maskedError(error, { workflow, input });
  }
}

interface Finishing {
  readonly deps: EngineDeps;
  readonly account: DriveAccount;
  readonly state: RunState;
  /** Absent: it is no longer usable. */
  readonly journal?: RunJournal;
  readonly publisher?: RunPublisher | undefined;
}

async function finish(finishing: Finishing, end: ClaimedEnd): Promise<ClaimedResult> {
  const { deps, account, state, journal, publisher } = finishing;
  const { reportedAs, next, events, mayBeStuck } = afterEnd(end, isOver(state));
  if (mayBeStuck) await nameIfStuck(deps, state);
  if (next) await enqueueNext(deps, state, { ...next, trace: account.trace });
  if (events === 'publish') await publisher?.flush();
  if (events === 'settle') {
    const left = publisher?.isNoted ? undefined : publisher;
    await meetCompletionDuties(deps, state, left && { publisher: left, seen: journal?.snapshotVersion });
  }
  return reportedAs;
}

/** The enqueue follows the acknowledgement of its commit; if it is lost, the scan finds the run by `wakeAt`. */
export async function enqueueNext(
  deps: EngineDeps,
  state: RunState,
  { at, trace }: Pick<DriveTask, 'at' | 'trace'>,
): Promise<void> {
  const name = taskName(state.id, state.head, wakeAt(state) ?? state.updatedAt);
  const reason = at === undefined ? 'continue' : 'retry';
  await deps.queue.enqueue({ runId: state.id, reason, name, ...placementOf(deps, state), at, trace });
}
