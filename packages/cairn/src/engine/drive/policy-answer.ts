/** Asks the policy of a workflow at the beginning of a dispatch, where the run has begun to move since it was last asked. */
import type { EventDraft, RecordedError } from '../../core/run/events.ts';
import { cut, SUMMARY_CHARS } from '../../core/run/records.ts';
import type { RunState } from '../../core/run/state.ts';
import type { RunJournal } from '../../journal/run-journal.ts';
import type { CancelTimer } from '../../ports/clock.ts';
import type { Workflow } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import { evaluatePolicy, passedOver } from '../policy.ts';
import { StepAborted } from './bodies/attempt.ts';
import type { ClosingDecision } from './closing.ts';
import type { Working } from './working.ts';

/**
 * A policy that could not be asked is asked again after this, and after twice as long each time: every time costs a claim and
 * a release, and a policy that is down for days must not fill the journal.
 */
const POLICY_RETRY_FIRST_MS = 30_000;
const POLICY_RETRY_CAP_MS = 3_600_000;

export interface PolicyParams {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  readonly input: unknown;
  /** Its `failure` ends the run: the time limit has passed. Nothing is left then that a policy would have to allow. */
  readonly working: Pick<Working, 'failure'>;
  /** Time in ms that the run has rested with its policy due; absent: none. */
  readonly pausedMs?: number;
  /** Time by which the dispatch must have released the run, epoch ms. */
  readonly budgetEndsAt: number;
  /** Aborts when the dispatch must release the run. */
  readonly abandoned: AbortSignal;
}

/** Time in ms. A policy is due before all else: a run that rested and has not asked it could not, or its drive threw. */
export function restedForPolicy({ status, policyDue, dueAt, updatedAt }: RunState): number | undefined {
  const isDue = status === 'running' && policyDue;
  return isDue && dueAt !== undefined ? dueAt - updatedAt : undefined;
}

/** Undefined: there is no question. `drafts` record the answer; a release: the policy gave none. */
export async function policyAnswer(
  params: PolicyParams,
): Promise<{ readonly drafts: readonly EventDraft[] } | ClosingDecision | undefined> {
  const { deps, journal, workflow, input, abandoned, working } = params;
  const { state } = journal;
  if (!workflow.policy || !state.policyDue || state.cancellation || working.failure) return undefined;
  const at = state.policySnapshotId === undefined ? 'start' : 'resume';
  if (at === 'start' && state.source?.forcedBy !== undefined)
    return { drafts: passedOver(state.source.forcedBy) };
  const needless = new AbortController();
  const signal = AbortSignal.any([abandoned, needless.signal]);
  const endWatch = watchForStops(params, () => needless.abort());
  try {
    const answer = await evaluatePolicy(deps, workflow.policy, { state, input, at, signal });
    if (answer === 'stopped') return stopped(params);
    if (!('failed' in answer)) return answer;
    return working.failure ? undefined : putOff(params, answer.failed.message);
  } finally {
    endWatch();
  }
}

/** Calls `onStop` once a person has cancelled or suspended the run, or its time is up. A dispatch reads that only with its commits otherwise. */
function watchForStops(
  { deps: { clock, settings }, journal, working }: PolicyParams,
  onStop: () => void,
): CancelTimer {
  let hasEnded = false;
  let cancel = clock.timer(settings.pollMs, poll);
  return () => {
    hasEnded = true;
    cancel();
  };

  function poll(): void {
    // A journal that cannot be read cannot record the answer either.
    journal.refresh().then(next, onStop);
  }

  function next(): void {
    if (working.failure || isStopped(journal.state)) onStop();
    else if (!hasEnded) cancel = clock.timer(settings.pollMs, poll);
  }
}

function isStopped({ cancellation, suspension }: RunState): boolean {
  return cancellation !== undefined || suspension !== undefined;
}

function stopped(params: PolicyParams): ClosingDecision | undefined {
  const { journal, deps, budgetEndsAt, abandoned, working } = params;
  if (journal.state.cancellation || working.failure) return undefined;
  if (journal.state.suspension) return { kind: 'release', reason: 'held' };
  if (deps.clock.now() >= budgetEndsAt) return putOff(params, 'it did not answer before the dispatch ended');
  const isShutdown = abandoned.reason instanceof StepAborted && abandoned.reason.why === 'shutdown';
  return { kind: 'release', reason: isShutdown ? 'shutdown' : 'budget' };
}

/** The run rests, but not beyond its time limit: then it ends, and needs no answer. */
function putOff({ deps, journal, workflow, pausedMs = 0 }: PolicyParams, message: string): ClosingDecision {
  const restMs = Math.min(POLICY_RETRY_CAP_MS, Math.max(POLICY_RETRY_FIRST_MS, 2 * pausedMs));
  const { deadlineAt = Number.POSITIVE_INFINITY } = journal.state;
  const dueAt = Math.min(deps.clock.now() + restMs, deadlineAt);
  const error = notEvaluated(workflow.type, message);
  return { kind: 'release', reason: 'retry', dueAt, error };
}

function notEvaluated(type: string, message: string): RecordedError {
  const text = `the policy of workflow '${type}' could not be evaluated: ${message}`;
  return { code: 'INTERNAL', message: cut(text, SUMMARY_CHARS), retryable: true };
}
