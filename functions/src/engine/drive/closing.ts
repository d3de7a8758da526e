/** The last event of a drive, from what was concluded. Pure. */
import type { Conclusion } from '../../core/decisions/conclude.ts';
import type { EventDraft, RecordedError, StepRef } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import type { Workflow } from '../define/steps.ts';
import * as drafts from './drafts.ts';
import type { Output } from './outputs.ts';

export type Closing = Exclude<Conclusion, { kind: 'wait' }>;

export interface ClosingFacts {
  readonly workflow: Workflow;
  readonly failure: RecordedError | undefined;
  /** Executions that were left behind. */
  readonly inFlight: readonly StepRef[];
  readonly outputOf: (id: string) => Output | undefined;
}

/** Decided on the newest state: a cancel that came in between beats every other end. */
export function closingDraft(closing: Closing, state: RunState, facts: ClosingFacts): EventDraft {
  if (closing.kind === 'cancel' || state.cancellation) return drafts.runCancelled(state);
  if (closing.kind === 'release') {
    const { reason, dueAt } = closing;
    const due = dueAt === undefined ? {} : { dueAt };
    return { type: 'run_released', initiator: 'system', data: { reason, inFlight: facts.inFlight, ...due } };
  }
  if (closing.kind === 'suspend') return drafts.suspended(closing.until);
  if (closing.kind === 'fail' && facts.failure) return drafts.runFailed(facts.failure);
  return drafts.completed(state, facts.workflow.result, facts.outputOf);
}
