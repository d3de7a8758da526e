/** Asks the policy of a workflow at the beginning of a dispatch, if the run has continued since the policy was last asked. */
import type { EventDraft, RecordedError } from '../../core/run/events.ts';
import { cut, SUMMARY_CHARS } from '../../core/run/records.ts';
import type { RunState } from '../../core/run/state.ts';
import type { CancelTimer } from '../../ports/clock.ts';
import { evaluatePolicy, skippedByForce } from '../policy.ts';
import { StepAborted } from './bodies/call-body.ts';
import type { ClosingDecision } from './closing.ts';
import type { DispatchState } from './dispatch-state.ts';

/**
 * First delay before a policy that gave no answer is asked again. It doubles each time, because every attempt costs a claim and
 * a release, and a policy that is down for days must not fill the journal.
 */
const POLICY_RETRY_FIRST_MS = 30_000;
const POLICY_RETRY_CAP_MS = 3_600_000;

/** `answered`: the events record it. A release: the policy gave no answer. */
type PolicyAnswer =
  | { readonly kind: 'answered'; readonly drafts: readonly EventDraft[] }
  | Extract<ClosingDecision, { kind: 'release' }>;

/**
 * Time in ms that the run rested although its policy is due; undefined if it did not. A dispatch asks the policy first, so the
 * policy could not be asked, or the dispatch threw.
 */
export function restedForPolicy({ status, policyDue, dueAt, updatedAt }: RunState): number | undefined {
  const isDue = status === 'running' && policyDue;
  return isDue && dueAt !== undefined ? dueAt - updatedAt : undefined;
}

/**
 * Returns undefined if the policy is not due, or if the time limit of the run has passed, after which nothing needs permission.
 *
 * @param abandoned aborts when the dispatch must release the run
 */
export async function policyAnswer(
  dispatch: DispatchState,
  abandoned: AbortSignal,
): Promise<PolicyAnswer | undefined> {
  const { deps, journal, workflow, input } = dispatch.run;
  const { state } = journal;
  if (!workflow.policy || !state.policyDue || state.cancellation || dispatch.failure) return undefined;
  const at = state.policySnapshotId === undefined ? 'start' : 'resume';
  if (at === 'start' && state.source?.forcedBy !== undefined)
    return { kind: 'answered', drafts: skippedByForce(state.source.forcedBy) };
  const unneeded = new AbortController();
  const signal = AbortSignal.any([abandoned, unneeded.signal]);
  const endWatch = watchForStops(dispatch, () => unneeded.abort());
  try {
    const result = await evaluatePolicy(deps, workflow.policy, { state, input, at, signal });
    switch (result.kind) {
      case 'decided':
        return { kind: 'answered', drafts: result.drafts };
      case 'failed':
        return dispatch.failure ? undefined : putOff(dispatch, result.message);
      case 'stopped':
        return stopped(dispatch, abandoned);
    }
  } finally {
    endWatch();
  }
}

/**
 * Calls `onStop` once a person has cancelled or suspended the run, or its time is up. Without this, a dispatch notices that
 * only with its next commit.
 */
function watchForStops(dispatch: DispatchState, onStop: () => void): CancelTimer {
  const { deps, journal } = dispatch;
  const { clock, settings } = deps;
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
    const { cancellation, suspension } = journal.state;
    if (dispatch.failure || cancellation || suspension) onStop();
    else if (!hasEnded) cancel = clock.timer(settings.pollMs, poll);
  }
}

function stopped(dispatch: DispatchState, { reason }: AbortSignal): PolicyAnswer | undefined {
  const { run, now } = dispatch;
  const { journal, budgetEndsAt } = run;
  if (journal.state.cancellation || dispatch.failure) return undefined;
  if (journal.state.suspension) return { kind: 'release', reason: 'paused' };
  if (now >= budgetEndsAt) return putOff(dispatch, 'it did not answer before the dispatch ended');
  const isShutdown = reason instanceof StepAborted && reason.why === 'shutdown';
  return { kind: 'release', reason: isShutdown ? 'shutdown' : 'budget' };
}

/** Lets the run rest, but not beyond its time limit, at which it ends without an answer. */
function putOff({ now, run }: DispatchState, message: string): PolicyAnswer {
  const { journal, workflow, restedMs = 0 } = run;
  const restMs = Math.min(POLICY_RETRY_CAP_MS, Math.max(POLICY_RETRY_FIRST_MS, 2 * restedMs));
  const { deadlineAt = Number.POSITIVE_INFINITY } = journal.state;
  const dueAt = Math.min(now + restMs, deadlineAt);
  const error = notEvaluated(workflow.type, message);
  return { kind: 'release', reason: 'retry', dueAt, error };
}

function notEvaluated(type: string, message: string): RecordedError {
  const text = `the policy of workflow '${type}' could not be evaluated: ${message}`;
  return { code: 'INTERNAL', message: cut(text, SUMMARY_CHARS), retryable: true };
}
