/** Request and response of a decision, and validation of its parts. Pure. */

import type { BudgetLimits } from '../../core/budget/budget.ts';
import { budgetLimits, type GivenRaise } from '../../core/budget/given.ts';
import { canonicalJson, type Json, toJsonText } from '../../core/encoding/json.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import type { Decision } from '../../core/run/events.ts';
import type { RunOfTenant } from '../append-to-run.ts';

/** Largest note or feedback, UTF-8 bytes. It is stored in the journal and the snapshot, and passed to bodies. */
const MAX_TEXT_BYTES = 8 * 1024;
/** Largest data of an approval, as canonical JSON. It is stored in the journal and in the output of the step. */
const MAX_DATA_BYTES = 16 * 1024;

export interface DecideRequest extends RunOfTenant {
  /** Key of the step: its id, or `id[itemKey]` for an item in doubt. */
  readonly stepId: string;
  /** Id of the question, as the run lists it. Absent: the open one. */
  readonly waitId?: string | undefined;
  readonly decision: Decision;
  /** Reason of the decision; a waiver needs one. */
  readonly note?: string | undefined;
  /** With `retry_with_feedback`: feedback for the bodies that run again. */
  readonly feedback?: string | undefined;
  /** With `retry_with_feedback`: the steps before the approval that run again. Absent: those it needs. */
  readonly steps?: readonly string[] | undefined;
  /** With `approve` of a budget: amounts by which limits are raised. Absent: the limits that were reached, by the amounts that the workflow declares. */
  readonly raise?: GivenRaise | undefined;
  /** With `approve` and `approve_with_waiver`, if the approval's definition has a schema for it. */
  readonly data?: unknown;
  readonly actor: string;
  /** True if the actor may raise the limits that the installation sets for its tenants. */
  readonly mayRaiseDay?: boolean;
}

/** Decision without actor and target. */
type DecisionContent = Pick<DecideRequest, 'decision' | 'note' | 'feedback' | 'steps' | 'raise' | 'data'>;

/** The first answer to the question. A repetition gets the same. */
export interface ApprovalDecided {
  readonly runId: string;
  readonly stepId: string;
  readonly waitId: string;
  readonly decision: Decision;
  readonly decidedBy?: string | undefined;
  /** Epoch ms. */
  readonly decidedAt: number;
}

/** The data of the decision, as canonical JSON. */
export function payloadTextOf({ note, feedback, steps, raise, data }: DecisionContent): string {
  const more = raise && { ...raiseOf({ raise }) };
  const content = { note, feedback, steps: steps && [...new Set(steps)].sort(), raise: more };
  return canonicalJson({ ...content, data: data as Json | undefined });
}

/** @throws CairnError INVALID_INPUT */
export function raiseOf({ raise }: Pick<DecisionContent, 'raise'>): BudgetLimits | undefined {
  return raise && budgetLimits(raise, 'raise');
}

/** @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE with the name of the invalid member */
export function assertDecisionContent({
  decision,
  note,
  feedback,
  steps,
  raise,
  data,
}: DecisionContent): void {
  if (raise !== undefined && decision !== 'approve')
    throw invalidInput('raise', `'${decision}' raises no budget`);
  raiseOf({ raise });
  checkText('note', note);
  checkText('feedback', feedback);
  checkData(decision, data);
  const sendsBack = decision === 'retry_with_feedback';
  if (decision === 'approve_with_waiver' && note === undefined) {
    throw invalidInput('note', 'a waiver needs a note with the reason');
  }
  if (sendsBack && feedback === undefined) {
    throw invalidInput('feedback', 'sending steps back needs feedback on what to change');
  }
  if (!sendsBack && feedback !== undefined)
    throw invalidInput('feedback', `'${decision}' takes a note, not feedback`);
  if (!sendsBack && steps !== undefined) throw invalidInput('steps', `'${decision}' cannot send steps back`);
  if (steps?.length === 0)
    throw invalidInput(
      'steps',
      'name at least one step, or omit the list to send back the steps that the approval needs',
    );
}

function checkData(decision: Decision, data: unknown): void {
  if (data === undefined) return;
  if (decision !== 'approve' && decision !== 'approve_with_waiver')
    throw invalidInput('data', `'${decision}' takes no data`);
  const bytes = Buffer.byteLength(toJsonText(data, 'data'));
  if (bytes <= MAX_DATA_BYTES) return;
  const what = `the data has ${bytes} bytes; the maximum is ${MAX_DATA_BYTES}`;
  throw new CairnError('PAYLOAD_TOO_LARGE', what, { field: 'data' });
}

function checkText(field: 'note' | 'feedback', text: string | undefined): void {
  if (text === undefined) return;
  if (text.trim() === '') throw invalidInput(field, `the ${field} is empty`);
  if (!text.isWellFormed()) throw invalidInput(field, `the ${field} has a lone surrogate`);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return;
  throw new CairnError(
    'PAYLOAD_TOO_LARGE',
    `the ${field} has ${bytes} bytes; the maximum is ${MAX_TEXT_BYTES}`,
    { field },
  );
}
