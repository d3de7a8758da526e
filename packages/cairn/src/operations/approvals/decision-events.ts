/**
 * Events of each decision: the end of the wait and its consequences, in one commit. Pure.
 *
 * Must not: decide whether the question is still open (core/decisions/approval.ts).
 */
import type { BudgetLimits, BudgetName } from '../../core/budget/budget.ts';
import { givenLimit } from '../../core/budget/given.ts';
import { assertFeedbackFits, type DecidableQuestion, sentBackBy } from '../../core/decisions/approval.ts';
import { MAX_SENT_BACK, undoableOf } from '../../core/decisions/compensation.ts';
import type { DeployedPlan } from '../../core/decisions/deployed-plan.ts';
import { canonicalJson, toJsonText } from '../../core/encoding/json.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import { grouped } from '../../core/run/bounded.ts';
import type { BudgetQuestion, EventDraft, RecordedError } from '../../core/run/events.ts';
import { cut, TRACE_CHARS } from '../../core/run/records.ts';
import { type RunState, stepIdOf, stepKey } from '../../core/run/state.ts';
import { assertFits } from '../../core/run/values.ts';
import type { Approved } from '../../engine/define/approval.ts';
import type { StepDefinition, Workflow } from '../../engine/define/steps.ts';
import * as build from '../../engine/recording/event-builders.ts';
import { NO_OUTPUT, type Output, outputFrom } from '../../engine/recording/output.ts';
import { checkedData, dataSchema } from '../../engine/waits/answer-data.ts';
import { raiseByDefault } from '../../engine/waits/budget-question.ts';
import * as endOfWait from '../../engine/waits/end-of-wait.ts';
import { cancelDrafts } from '../cancel-run.ts';
import { type DecideRequest, payloadTextOf, raiseOf } from './request.ts';

interface Deciding {
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly deployed: DeployedPlan;
  readonly wait: DecidableQuestion;
  readonly request: DecideRequest;
  /** Epoch ms. */
  readonly now: number;
}

/** @throws CairnError for a decision that the question does not accept or the run cannot carry out */
export function decisionEvents(deciding: Deciding): EventDraft[] {
  const { state, workflow, wait, request } = deciding;
  const step = workflow.steps.get(wait.execution.stepId);
  if (!step) throw new Error(`workflow '${workflow.type}' has no step '${wait.execution.stepId}'`);
  // A run that is about to end is not resumed first.
  if (request.decision === 'halt') return halted(deciding);
  const { raise, data } = request;
  if (raise !== undefined && wait.purpose !== 'budget') {
    const what = `'${stepKey(wait.execution)}' does not ask about the budget`;
    throw invalidInput('raise', what, { stepId: stepKey(wait.execution) });
  }
  if (data !== undefined && !dataSchema(step, wait)) {
    const what = `'${stepKey(wait.execution)}' takes no data`;
    const help = 'Send the decision without data, or with a note.';
    throw invalidInput('data', what, { stepId: stepKey(wait.execution), help });
  }
  const outcome = settled({ ...deciding, step });
  const why = `'${stepKey(wait.execution)}': ${request.decision}`;
  return [...outcome, ...endOfWait.resumptionDrafts(state, why, answerOf(request))];
}

interface DecidedStep extends Deciding {
  readonly step: StepDefinition;
}

function settled(settling: DecidedStep): EventDraft[] {
  const { wait } = settling;
  if (wait.purpose === 'budget') return budgetSettled({ ...settling, wait });
  return wait.purpose === 'doubt' ? doubtSettled(settling) : approvalSettled(settling);
}

function approvalSettled(settling: DecidedStep): EventDraft[] {
  const { request } = settling;
  switch (request.decision) {
    case 'approve':
    case 'approve_with_waiver':
      return endOfWait.answerDrafts(settling, answerOf(request), approvedOutput(request.decision, settling));
    case 'reject':
      return endOfWait.refusalDrafts(settling, answerOf(request), rejection(settling));
    case 'retry_with_feedback':
      return sentBack(settling);
    case 'halt':
      return [];
  }
}

/** Events for an attempt interrupted by a crash, with the outcome that the operator reports or decides. */
function doubtSettled(settling: DecidedStep): EventDraft[] {
  const { wait, request, now } = settling;
  const { decision, note } = request;
  const ending = { step: settling.step, execution: wait.execution, now };
  switch (decision) {
    case 'approve':
      return [
        endOfWait.resolvedDraft(wait, answerOf(request)),
        build.retryScheduled(wait.execution, { at: now, error: orphaned(settling, 'runs again') }),
      ];
    case 'approve_with_waiver':
      return [
        endOfWait.resolvedDraft(wait, answerOf(request)),
        build.degraded(ending, NO_OUTPUT, note ?? 'treated as completed'),
      ];
    case 'reject':
      return endOfWait.refusalDrafts(settling, answerOf(request), orphaned(settling, 'is treated as failed'));
    case 'retry_with_feedback':
      throw invalidInput(
        'decision',
        `'${stepKey(wait.execution)}' is in doubt: steps can be sent back only after its outcome is known`,
        {
          stepId: stepKey(wait.execution),
          help: "'approve' runs the step again, 'approve_with_waiver' treats it as completed, 'reject' fails it, 'halt' ends the run.",
        },
      );
    case 'halt':
      return [];
  }
}

/** The limits are raised and the attempt begins, or the step fails. */
function budgetSettled(settling: DecidedStep & { readonly wait: BudgetQuestion }): EventDraft[] {
  const { state, wait, request, now } = settling;
  const stepId = stepKey(wait.execution);
  switch (request.decision) {
    case 'approve': {
      // The limits of the day apply to all runs of the tenant and are stored elsewhere (raise-day.ts).
      if (wait.day !== undefined) return endOfWait.budgetAnswerDrafts({ wait, now }, answerOf(request));
      const answer = { ...answerOf(request), raise: raiseFor(state, wait, request) };
      return endOfWait.budgetAnswerDrafts({ wait, now }, answer);
    }
    case 'reject': {
      const why = request.note === undefined ? '' : `: ${request.note}`;
      const subject =
        wait.day === undefined
          ? 'the run has reached its budget'
          : 'the tenant has reached its budget of the day';
      const message = cut(`${subject}, and ${request.actor} did not raise it${why}`, TRACE_CHARS);
      return endOfWait.refusalDrafts(settling, answerOf(request), {
        code: 'BUDGET_REACHED',
        message,
        stepId,
        retryable: false,
      });
    }
    default:
      throw invalidInput('decision', `'${stepId}' waits for the budget to be raised`, {
        stepId,
        help: "'approve' raises the budget, 'reject' fails the step, 'halt' cancels the run.",
      });
  }
}

/** @throws CairnError INVALID_INPUT for a limit that the run does not have */
function raiseFor({ budget }: RunState, wait: BudgetQuestion, request: DecideRequest): BudgetLimits {
  if (!budget) throw new Error(`'${wait.id}' asks about the budget of a run that has none`);
  const raise = raiseOf(request);
  if (!raise) return raiseByDefault(budget, wait);
  const unlimited = (Object.keys(raise) as BudgetName[]).find((name) => budget.limits[name] === undefined);
  if (unlimited === undefined) return raise;
  const member = givenLimit(unlimited);
  throw invalidInput(`raise.${member}`, `the budget of the run does not limit '${member}'`);
}

/** The run is cancelled after its compensations; the step itself has no outcome. */
function halted({ state, wait, request, deployed }: Deciding): EventDraft[] {
  const { actor, note: reason } = request;
  return [
    endOfWait.resolvedDraft(wait, answerOf(request)),
    ...cancelDrafts(state, { stopKind: 'halt', actor, reason }, deployed),
  ];
}

function sentBack({ state, workflow, wait, request, deployed }: DecidedStep): EventDraft[] {
  const { actor, steps: named, feedback = '' } = request;
  assertFeedbackFits(state, feedback);
  const { steps, again } = sentBackBy(workflow.graph, state, { approval: wait.execution.stepId, named });
  const back = new Set(again);
  const undoable = undoableOf(state, deployed.isCompensable, (key) => back.has(stepIdOf(key)));
  if (state.sentBack.length + undoable.length > MAX_SENT_BACK) {
    const what = `more than ${MAX_SENT_BACK} completed steps would wait for compensation`;
    throw new CairnError('RUN_INVALID_TRANSITION', what, { stepId: wait.execution.stepId });
  }
  const undone = Map.groupBy(undoable, stepIdOf);
  const groups = grouped(again, (id) => bytesOf(id) + bytesOf(undone.get(id) ?? []));
  return [
    endOfWait.resolvedDraft(wait, answerOf(request)),
    ...groups.map((some, i): EventDraft => {
      const keys = some.flatMap((id) => undone.get(id) ?? []);
      return {
        type: 'feedback_given',
        initiator: 'approval',
        actor,
        data: {
          waitId: wait.id,
          steps: i === 0 ? steps : [],
          again: some,
          feedback,
          undoable: keys.length > 0 ? keys : undefined,
        },
      };
    }),
  ];
}

function bytesOf(value: string | readonly string[]): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}

function answerOf(request: DecideRequest): endOfWait.WaitResolution {
  const { actor, decision } = request;
  return { initiator: 'approval', actor, decision, payloadText: payloadTextOf(request) };
}

/** @throws CairnError INVALID_INPUT with every issue of the data */
function approvedOutput(decision: Approved['decision'], { step, wait, request }: DecidedStep): Output {
  const { note, actor: by, data: given } = request;
  const schema = dataSchema(step, wait);
  if (!schema) return outputFrom(canonicalJson({ decision, note, by }));
  const what = `the data for step '${step.id}'`;
  const data = checkedData(schema, given, wait.execution);
  const text = toJsonText({ decision, note, by, data }, what);
  assertFits(text, what);
  return outputFrom(text);
}

function rejection({ wait, request: { actor, note } }: DecidedStep): RecordedError {
  const stepId = stepKey(wait.execution);
  const why = note === undefined ? '' : `: ${note}`;
  const message = cut(`'${stepId}' was rejected by ${actor}${why}`, TRACE_CHARS);
  return { code: 'APPROVAL_REJECTED', message, stepId, retryable: false };
}

function orphaned({ wait, request }: DecidedStep, becomes: string): RecordedError {
  const stepId = stepKey(wait.execution);
  const message = `'${stepId}' was running when its worker died and ${becomes}, as ${request.actor} decided`;
  return { code: 'RUN_ORPHANED', message, stepId, retryable: false };
}
