/**
 * Records a person's decision about an approval or a step in doubt: one pure decision, one append, and a dispatch
 * that continues the run. The first answer in the journal counts; later callers get that decision.
 */
import { type ApprovalDecision, approvalDecision } from '../../core/decisions/approval.ts';
import { sha256Hex } from '../../core/encoding/hash.ts';
import type { DayQuestion, EventDraft } from '../../core/run/events.ts';
import type { Decided } from '../../core/run/state.ts';
import { deployedFor, planMissing, workflowOf } from '../../engine/definition-of-run.ts';
import { driveAfter } from '../../engine/drive-after.ts';
import { asksForDay } from '../../engine/waits/budget-question.ts';
import type { Appended } from '../../journal/run-journal.ts';
import { appendToRun } from '../append-to-run.ts';
import { logCancelRequests } from '../cancel-run.ts';
import { decisionEvents } from './decision-events.ts';
import { type DayBudgetDeps, raiseDay } from './raise-day.ts';
import { type ApprovalDecided, assertDecisionContent, type DecideRequest, payloadTextOf } from './request.ts';
import { resumeAsking } from './resume-asking.ts';

/**
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE, RUN_NOT_FOUND, PLAN_VERSION_UNAVAILABLE, UNAVAILABLE (send the
 *   same again), and what `approvalDecision` throws; nothing is written then
 */
export async function decideApproval(deps: DayBudgetDeps, request: DecideRequest): Promise<ApprovalDecided> {
  assertDecisionContent(request);
  const { runId, tenantId, stepId, decision, actor } = request;
  let { decided, appended } = await decide(deps, request);
  let raised: DayQuestion | undefined;
  if (decided.kind === 'decide' && appended.events.length === 0 && asksForDay(decided.wait)) {
    raised = decided.wait;
    await raiseDay(deps, raised, request);
    ({ decided, appended } = await decide(deps, request, raised));
  }
  const [resolved] = appended.events;
  if (resolved) deps.log.info('approval_decided', { runId, tenantId, stepId, decision });
  logCancelRequests(deps.log, appended);
  await driveAfter(deps, appended);
  if (raised && resolved) await resumeAsking(deps, { run: appended.state, wait: raised, actor });
  if (decided.kind === 'repeated') return responseTo(request, decided.decided);
  if (!resolved) throw new Error(`run ${runId}: the decision about '${stepId}' was not recorded`);
  return responseTo(request, { waitId: decided.wait.id, actor, at: resolved.at });
}

interface Decision {
  readonly decided: ApprovalDecision;
  /** Without events if this is a repetition, or if the limits of the day must be raised first. */
  readonly appended: Appended;
}

/** @param raised the question about the budget of the day, once its limits are raised */
async function decide(deps: DayBudgetDeps, request: DecideRequest, raised?: DayQuestion): Promise<Decision> {
  const { runId, tenantId, stepId: step, decision } = request;
  const answer = { step, decision, payloadHash: sha256Hex(payloadTextOf(request)) };
  let waitId = raised?.id ?? request.waitId;
  let decided: ApprovalDecision | undefined;
  const appended = await appendToRun(deps, {
    runId,
    tenantId,
    decide: (state, now) => {
      decided = approvalDecision(state, { ...answer, waitId }, now);
      if (decided.kind === 'repeated') return [];
      const { wait } = decided;
      // A decision that lost against feedback must not answer the question that follows the feedback.
      waitId = wait.id;
      // The drafts come first, so that a decision that the run cannot carry out raises nothing.
      const drafts = draftsOn(deps, { state, request, wait, now });
      const mustRaise = asksForDay(wait) && decision === 'approve' && !raised;
      return mustRaise ? [] : drafts;
    },
  });
  if (!decided) throw new Error(`run ${runId}: nothing was decided about '${step}'`);
  return { decided, appended };
}

type Situation = Omit<Parameters<typeof decisionEvents>[0], 'workflow' | 'deployed'>;

function draftsOn({ registry }: DayBudgetDeps, situation: Situation): EventDraft[] {
  const { state, wait } = situation;
  const workflow = workflowOf(registry, state);
  if (!workflow) throw planMissing(registry, state, wait.execution.stepId);
  return decisionEvents({ ...situation, workflow, deployed: deployedFor(registry, state) });
}

function responseTo(
  { runId, stepId, decision }: DecideRequest,
  { waitId, actor, at }: Pick<Decided, 'waitId' | 'actor' | 'at'>,
): ApprovalDecided {
  return { runId, stepId, waitId, decision, decidedBy: actor, decidedAt: at };
}
