/** Recovers one run whose worker died. Used by the scan, and by a dispatch that finds such a run itself. */
import { claimDecision, type TaskDelivery } from '../core/decisions/claim.ts';
import { stepsToAttemptAnew } from '../core/decisions/ending-facts.ts';
import { type RecoveryDecision, recoveryDecision } from '../core/decisions/recovery.ts';
import type { Takeover } from '../core/run/data/takeover.ts';
import type { EventDraft, StepExecution } from '../core/run/events.ts';
import { type RunState, stepRefOf } from '../core/run/state.ts';
import { FIRST_BLOCKED_CHECK_MS, hasUnannouncedWaits } from '../core/run/wake.ts';
import type { TraceContext } from '../core/trace.ts';
import { RunJournal } from '../journal/run-journal.ts';
import { ofRun } from '../ports/log.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import { meetCompletionDuties } from './completion-duties.ts';
import { deployedFor, learnPlan, observationOf } from './definition-of-run.ts';
import type { EngineDeps } from './deps.ts';
import { compensationStarted } from './recording/event-builders.ts';
import { runCancelled, runFailed } from './recording/terminal.ts';
import { deadDriveSpan, recoverySpan } from './tracing/run-spans.ts';
import { cutOffSpan } from './tracing/step-spans.ts';
import { openedDraft } from './waits/new-wait.ts';
import { doubtOf } from './waits/question.ts';

type Recovered =
  /** The run may be dispatched now. */
  | { readonly kind: 'resumed' }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'cancelled' }
  /** The run did not need recovery, or another process recovered it. */
  | { readonly kind: 'moved_on' };

interface Recovering {
  /** Span of the scan or dispatch that started the recovery. */
  readonly by?: TraceContext | undefined;
  /** Delivery of the dispatch that found it, if the queue named it. */
  readonly delivery?: TaskDelivery | undefined;
}

/**
 * Two commits: the first records the interruption, the second its handling. A crash between them leaves an interrupted
 * run, which the next scan finds. Safe with any number of concurrent scanners and dispatches.
 */
export async function recoverRun(
  deps: EngineDeps,
  loaded: LoadedRun,
  { by, delivery }: Recovering,
): Promise<Recovered> {
  const { clock, settings, log, tracer } = deps;
  await learnPlan(deps, loaded.state);
  const span = tracer?.open(recoverySpan(loaded.state, by));
  const journal = new RunJournal(deps, loaded, settings);
  const decision = claimDecision(observationOf(deps, loaded, { delivery }));
  if (decision.kind === 'orphaned') {
    const { lastHeartbeatAt, why } = decision;
    const { events } = await journal.append((state) => orphanDrafts(state, loaded.state, decision));
    if (events.length > 0) {
      log.warn('orphan_detected', { ...ofRun(loaded.state), lastHeartbeat: lastHeartbeatAt, why });
      reportDeadSpans(deps, loaded.state);
    }
  }
  const { state, events } = await journal.append((current) => recoveryDrafts(deps, current, clock.now()));
  const [event] = events;
  if (!event) return { kind: 'moved_on' };
  span?.set({ 'cairn.recovery.verdict': event.type, 'cairn.run.resume_count': state.resumeCount });
  span?.end();
  log.info('run_recovered', { ...ofRun(state), verdict: event.type, resumeCount: state.resumeCount });
  await meetCompletionDuties(deps, state);
  if (event.type === 'run_failed') return { kind: 'failed' };
  if (event.type === 'run_cancelled') return { kind: 'cancelled' };
  // A run that was suspended to ask a person may have other unannounced waits, so it is dispatched again.
  return event.type === 'run_resumed' || hasUnannouncedWaits(state)
    ? { kind: 'resumed' }
    : { kind: 'suspended' };
}

/**
 * Reports the spans of the dead dispatch and its running steps, which it can no longer report; their children may be
 * reported already.
 */
function reportDeadSpans({ tracer, settings }: EngineDeps, state: RunState): void {
  if (!tracer || !state.lease) return;
  const { epoch, expiresAt } = state.lease;
  tracer.open(deadDriveSpan(state, epoch, expiresAt - settings.leaseMs)).end('RUN_ORPHANED');
  for (const [key, step] of state.steps) {
    if (step.phase !== 'running') continue;
    tracer.open(cutOffSpan(state, interruptedExecution(state, key), epoch)).end('RUN_ORPHANED');
  }
}

/**
 * The events that interrupt the run; none if a process appended since the run was read, because that process is alive or has
 * already recovered the run.
 */
function orphanDrafts(
  state: RunState,
  seen: RunState,
  { lastHeartbeatAt, why }: { readonly lastHeartbeatAt: number; readonly why: Takeover },
): EventDraft[] {
  if (state.head !== seen.head || !state.lease) return [];
  const { owner, epoch } = state.lease;
  const initiator = why === 'silence' ? 'timeout' : 'system';
  return [{ type: 'orphan_detected', initiator, data: { owner, epoch, lastHeartbeatAt, why } }];
}

function recoveryDrafts(deps: EngineDeps, state: RunState, now: number): EventDraft[] {
  if (state.status !== 'interrupted') return [];
  const deployed = deployedFor(deps.registry, state);
  const decision = recoveryDecision(state, deployed);
  const drafts = recoveryDecisionDrafts(state, decision, now);
  if (decision.kind === 'resume') return [resumedDraft(whyResumed(stepsToAttemptAnew(state, deployed)))];
  return decision.kind === 'undo' ? [resumedDraft('completed steps are undone first'), ...drafts] : drafts;
}

/** Maximum number of step names in a message. */
const MAX_NAMED = 3;

function whyResumed(anew: readonly string[]): string {
  const why = 'orphan recovered from its last checkpoint';
  if (anew.length === 0) return why;
  const more = anew.length > MAX_NAMED ? ` and ${anew.length - MAX_NAMED} more` : '';
  return `${why}; a new attempt of ${anew.slice(0, MAX_NAMED).join(', ')}${more}`;
}

function resumedDraft(reason: string): EventDraft {
  return { type: 'run_resumed', initiator: 'system', data: { reason } };
}

/** Events that a recovery decision adds to a run that continues; none if it just continues. */
export function recoveryDecisionDrafts(
  state: RunState,
  decision: RecoveryDecision,
  now: number,
): EventDraft[] {
  switch (decision.kind) {
    case 'resume':
      return [];
    case 'fail':
      return [runFailed(decision.error)];
    case 'suspend': {
      const { status, reason } = decision;
      const data = reason === undefined ? {} : { reason, until: now + FIRST_BLOCKED_CHECK_MS };
      return [{ type: 'run_suspended', initiator: 'system', data: { status, ...data } }];
    }
    case 'cancel':
      return [runCancelled(state, state.cancellation, decision.notUndone)];
    case 'undo': {
      // This event makes the run fail. The next dispatch runs the compensations.
      const { steps, error } = decision;
      return [compensationStarted(steps, error)];
    }
    case 'fail_after_children': {
      // This event makes the run fail. The next dispatch cancels the children, and the run waits for them.
      const data = { status: 'waiting_external' as const, error: decision.error };
      return [
        { type: 'run_suspended', initiator: 'system', data },
        resumedDraft('its children are to end before it does'),
      ];
    }
    case 'ask':
      return asking(state, decision.steps, now);
  }
}

/** Opens a question about each step in doubt, and lets the run wait for the answers. */
function asking(state: RunState, steps: readonly string[], now: number): EventDraft[] {
  return [
    ...steps.map((key) => openedDraft(doubtOf(interruptedExecution(state, key), now))),
    { type: 'run_suspended', initiator: 'system', data: { status: 'awaiting_approval' } },
  ];
}

/** The interrupted attempt as far as the state has it, without its inputs. */
function interruptedExecution({ steps }: RunState, key: string): StepExecution {
  const step = steps.get(key);
  if (step?.phase !== 'running') throw new Error(`step '${key}' is not running`);
  const { attempt, revision, startedAt } = step;
  const ref = stepRefOf(key, revision);
  return { ...ref, attempt, startedAt, kind: ref.itemKey === undefined ? 'step' : 'map', inputsHash: '' };
}
