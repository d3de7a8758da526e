/**
 * A run whose append the store refuses permanently. A retry would be refused again, so the run is failed in a commit with
 * nothing else, after its due compensations. If that commit is refused too, or the store refuses all runs, the run gets a
 * finding and is retried with back-off. So does a run whose dispatches all throw.
 */
import { compensationsDue, leftUndone } from '../core/decisions/compensation.ts';
import { type FindingReason, isFindingCurrent, isStuck } from '../core/findings.ts';
import { MAX_SHOWN } from '../core/run/bounded.ts';
import type { EventDraft, RecordedError } from '../core/run/events.ts';
import { currentStepOf } from '../core/run/now/running.ts';
import { cut } from '../core/run/records.ts';
import { isOver, type RunState, refsInFlight, type VolatileMetadata } from '../core/run/state.ts';
import { messageOf } from '../core/thrown.ts';
import { RunJournal } from '../journal/run-journal.ts';
import { FINDINGS_READ, MAX_FINDING_CHARS, type RunFinding } from '../ports/diagnosis/findings.ts';
import { isOfDocument, type StoreRefused } from '../ports/store-errors.ts';
import { deployedFor, learnUndoable, workflowOf } from './definition-of-run.ts';
import type { EngineDeps } from './deps.ts';
import { type ReleasedFailed, releaseFailed } from './drive/release-failed.ts';
import { placementOf } from './enqueue-soon.ts';
import { OtherRunRefused, onOtherRun } from './other-run.ts';
import { compensationStarted } from './recording/event-builders.ts';
import { runFailed } from './recording/terminal.ts';
import { resumptionDrafts } from './waits/end-of-wait.ts';

interface RefusedRun {
  readonly runId: string;
  /** Owner of the lease under which the append was refused; absent: it was made without one. */
  readonly owner: string | undefined;
  readonly refusal: StoreRefused;
  /** True if another run made the append. A run that already compensates does not need it, and its own dispatch ends it. */
  readonly byOtherRun?: boolean | undefined;
}

/**
 * `ended`: it has failed, or is failing and a dispatch compensates it. `released`: its end was refused and its lease released,
 * so that its worker does not count as dead. `named`: nothing could be written to it. The last two have a finding.
 */
type UnwritableEnd = { readonly kind: 'ended' | 'named' } | ({ readonly kind: 'released' } & ReleasedFailed);

/** Never throws. If the finding cannot be written either, the log has it, and the diagnosis finds the overdue run. */
export async function endUnwritable(deps: EngineDeps, refused: RefusedRun): Promise<UnwritableEnd> {
  const { log, store, queue } = deps;
  const { runId, refusal } = refused;
  const { reason } = refusal;
  let stepId: string | undefined;
  try {
    const loaded = await store.load(runId);
    if (!loaded) return { kind: 'named' };
    stepId = stepAt(loaded.state, loaded.metadata);
    const notUndone = notUndoneOf(deps, loaded.state, refused);
    log.error('run_unwritable', { runId, stepId, reason, notUndone, error: refusal });
    // If the run has ended, only the record of its duties was refused, and the queue retries its task with back-off.
    if (reason === 'request' && !isOver(loaded.state)) {
      // For a version that is not deployed, only its stored plan shows whether there are compensations.
      if (!workflowOf(deps.registry, loaded.state)) await learnUndoable(deps, loaded.state);
      const journal = new RunJournal(deps, loaded, { ...deps.settings, owner: refused.owner });
      const { state, events } = await journal.append((current) =>
        endDrafts(deps, current, { ...refused, stepId }),
      );
      if (isOver(state) || events.length > 0 || isEndingAnyway(state, refused)) {
        // Another dispatch continues, because this one had too little room.
        await queue.enqueue({ runId, reason: 'continue', ...placementOf(deps, state) });
        return { kind: 'ended' };
      }
    }
    await name(deps, loaded.state, { reason, message: refusal.message, stepId });
    return { kind: 'named' };
  } catch (error) {
    const released = await release(deps, refused);
    await nameAnyway(deps, refused, error);
    return released ? { kind: 'released', ...released } : { kind: 'named' };
  }
}

/**
 * Awaits work on another run, such as the cancellation of a child. If the store refuses to write that run, the run is ended and
 * no longer needs the work; or it gets a finding, and the caller must repeat the work.
 *
 * @throws OtherRunRefused
 */
export async function orEnd(deps: EngineDeps, runId: string, work: Promise<void>): Promise<void> {
  try {
    await onOtherRun(work);
  } catch (error) {
    if (!(error instanceof OtherRunRefused)) throw error;
    const { refusal } = error;
    const { kind } = await endUnwritable(deps, { runId, owner: undefined, refusal, byOtherRun: true });
    if (kind !== 'ended') throw error;
  }
}

/** Logs an error of the release instead of throwing it, because the refusal is its cause. */
async function release(
  deps: EngineDeps,
  { runId, owner, refusal }: RefusedRun,
): Promise<ReleasedFailed | undefined> {
  if (owner === undefined || refusal.reason !== 'request') return undefined;
  try {
    return await releaseFailed(deps, { runId, owner, error: refusal });
  } catch (error) {
    deps.log.warn('drive_not_released', { runId, error: messageOf(error) });
    return undefined;
  }
}

/** Call after each failure of a run that {@link isStuck}. Never throws, because the next failure repeats the call. */
export async function nameIfStuck(deps: EngineDeps, state: RunState): Promise<void> {
  const { id: runId, failures } = state;
  if (!failures || !isStuck(state)) return;
  const { error, times } = failures;
  deps.log.error('run_stuck', { runId, times, error: error.message });
  try {
    await name(deps, state, { reason: 'dispatches', message: error.message, stepId: stepAt(state) });
  } catch (unnamed) {
    deps.log.warn('run_not_named', { runId, error: messageOf(unnamed) });
  }
}

function endDrafts(
  { registry }: EngineDeps,
  state: RunState,
  { stepId, ...refused }: RefusedRun & { readonly stepId: string | undefined },
): EventDraft[] {
  const { owner, refusal } = refused;
  if (isOver(state) || (state.lease && state.lease.owner !== owner) || isEndingAnyway(state, refused))
    return [];
  const error: RecordedError = state.error ?? {
    code: 'RUN_UNWRITABLE',
    message: cut(refusal.message, MAX_FINDING_CHARS),
    retryable: false,
    stepId,
  };
  const due = compensationsDue(state, deployedFor(registry, state).isCompensable);
  // A compensation is an append too: if it was refused, nothing more is undone.
  if (state.compensating || due.length === 0) return [runFailed(error)];
  const undoing = compensationStarted(
    due.map(({ step }) => step),
    error,
  );
  if (!state.lease) return [...resumedDrafts(state), undoing];
  return [
    undoing,
    { type: 'run_released', initiator: 'system', data: { reason: 'retry', inFlight: refsInFlight(state) } },
  ];
}

function isEndingAnyway({ compensating }: RunState, { byOtherRun = false }: RefusedRun): boolean {
  return byOtherRun && compensating;
}

/** Steps that stay as they are, because the store refuses the run while it compensates. */
function notUndoneOf({ registry }: EngineDeps, state: RunState, refused: RefusedRun): string[] | undefined {
  if (refused.refusal.reason !== 'request' || isOver(state) || !state.compensating) return undefined;
  if (isEndingAnyway(state, refused)) return undefined;
  return leftUndone(state, deployedFor(registry, state).isCompensable).slice(0, MAX_SHOWN);
}

/** A run that waits, or whose worker died, compensates in a dispatch. */
function resumedDrafts(state: RunState): EventDraft[] {
  const reason = 'completed steps are undone first';
  if (state.status === 'interrupted') return [{ type: 'run_resumed', initiator: 'system', data: { reason } }];
  return resumptionDrafts(state, reason);
}

interface RefusalText {
  readonly reason: FindingReason;
  readonly message: string;
  readonly stepId: string | undefined;
}

/** The running step; if unknown, the step of the newest step event. */
function stepAt(state: RunState, metadata: VolatileMetadata = {}): string | undefined {
  return currentStepOf(state, metadata) ?? state.currentStep;
}

async function name(deps: EngineDeps, state: RunState, refusal: RefusalText): Promise<void> {
  const { id: runId, tenantId, type, head } = state;
  const now = deps.clock.now();
  const message = cut(refusal.message, MAX_FINDING_CHARS);
  await deps.findings.note({ runId, tenantId, type, head, ...refusal, message, since: now, lastAt: now });
}

/** Writes a finding after the commit that would have ended the run, or a first finding, was refused. */
async function nameAnyway(deps: EngineDeps, { runId, refusal }: RefusedRun, why: unknown): Promise<void> {
  try {
    const loaded = await deps.store.load(runId);
    if (!loaded) return;
    const stepId = stepAt(loaded.state, loaded.metadata);
    await name(deps, loaded.state, { reason: refusal.reason, message: refusal.message, stepId });
  } catch (error) {
    deps.log.error('run_unwritable', {
      runId,
      reason: refusal.reason,
      error: refusal,
      unnamed: messageOf(error),
      unended: messageOf(why),
    });
  }
}

/**
 * Maximum pages of findings per review: 500 runs, each of which is read. More findings have a common cause, which an operator
 * must fix first.
 */
const REVIEWED_PAGES = 10;

/**
 * Deletes findings that are outdated, or whose runs no longer exist. Keeps the finding of a run that cannot be read. Called by
 * the scan.
 */
export async function reviewFindings({ findings, store }: EngineDeps): Promise<number> {
  let left = 0;
  let after: string | undefined;
  for (let page = 0; page < REVIEWED_PAGES; page += 1) {
    const named = await findings.list(FINDINGS_READ, after);
    for (const finding of named) {
      if (await mayBeCurrent({ store }, finding)) left += 1;
      else await findings.clear(finding.runId);
    }
    after = named.at(-1)?.runId;
    if (named.length < FINDINGS_READ) break;
  }
  return left;
}

/** A run that cannot be read must not block the review of other findings. */
async function mayBeCurrent({ store }: Pick<EngineDeps, 'store'>, finding: RunFinding): Promise<boolean> {
  try {
    const state = (await store.load(finding.runId))?.state;
    return state !== undefined && isFindingCurrent(finding, state);
  } catch (error) {
    if (isOfDocument(error)) return true;
    throw error;
  }
}
