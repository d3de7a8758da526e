/** Asks the policy of a workflow at the beginning of a dispatch, where the run has begun to move since it was last asked. */
import type { EventDraft, RecordedError } from '../../core/run/events.ts';
import { cut, SUMMARY_CHARS } from '../../core/run/records.ts';
import type { RunState } from '../../core/run/state.ts';
import type { RunJournal } from '../../journal/run-journal.ts';
import type { Workflow } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import { askPolicy, passedOver } from '../policy.ts';
import type { Closing } from './closing.ts';

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
  /** Time in ms that the run has rested with its policy due; absent: none. */
  readonly restedMs?: number;
}

/** Time in ms. A policy is due before all else: a run that rested and has not asked it could not, or its drive threw. */
export function restedForPolicy({ status, policyDue, dueAt, updatedAt }: RunState): number | undefined {
  const isDue = status === 'running' && policyDue;
  return isDue && dueAt !== undefined ? dueAt - updatedAt : undefined;
}

/** Undefined: nothing is to be asked. `drafts` record the answer; a release: the policy could not be asked. */
export async function policyAnswer({
  deps,
  journal,
  workflow,
  input,
  restedMs = 0,
}: PolicyParams): Promise<{ readonly drafts: readonly EventDraft[] } | Closing | undefined> {
  const state: RunState = journal.state;
  if (!workflow.policy || !state.policyDue || state.cancellation || state.error) return undefined;
  const at = state.policySnapshotId === undefined ? 'start' : 'resume';
  if (at === 'start' && state.source?.forcedBy !== undefined)
    return { drafts: passedOver(state.source.forcedBy) };
  const answer = await askPolicy(deps, workflow.policy, { state, input, at });
  if (!('failed' in answer)) return answer;
  const restMs = Math.min(POLICY_RETRY_CAP_MS, Math.max(POLICY_RETRY_FIRST_MS, 2 * restedMs));
  const error = notEvaluated(workflow.type, answer.failed.message);
  return { kind: 'release', reason: 'retry', dueAt: deps.clock.now() + restMs, error };
}

function notEvaluated(type: string, message: string): RecordedError {
  const text = `the policy of workflow '${type}' could not be evaluated: ${message}`;
  return { code: 'INTERNAL', message: cut(text, SUMMARY_CHARS), retryable: true };
}
