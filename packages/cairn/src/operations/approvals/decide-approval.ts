/**
 * Records what a person decided about an approval, or about a step in doubt: one pure decision, one append, and a drive
 * to carry on. The first answer in the journal counts; later callers get that decision.
 */
import { type ApprovalDecision, approvalDecision } from '../../core/decisions/approval.ts';
import { sha256Hex } from '../../core/encoding/hash.ts';
import type { EventDraft, Wait } from '../../core/run/events.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { deployedFor, planMissing, workflowOf } from '../../engine/deployed.ts';
import { type DriveAfterDeps, driveAfter } from '../../engine/drive-after.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import { appendToRun } from '../append-to-run.ts';
import { logCancelRequests } from '../cancel-run.ts';
import { decisionEvents } from './decision-events.ts';
import { type RaiseDayDeps, raiseDay } from './raise-day.ts';
import { type ApprovalDecided, assertDecisionContent, type DecideRequest, payloadTextOf } from './request.ts';
import { resumeAsking } from './resume-asking.ts';

interface DecideDeps extends JournalDeps, DriveAfterDeps, RaiseDayDeps {
  /** Has the definition of the step, which determines the effect of a rejection. */
  readonly registry: WorkflowRegistry;
}

/**
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE, RUN_NOT_FOUND, PLAN_VERSION_UNAVAILABLE, UNAVAILABLE (send the
 *   same again), and what `approvalDecision` throws; nothing is written then
 */
export async function decideApproval(deps: DecideDeps, request: DecideRequest): Promise<ApprovalDecided> {
  assertDecisionContent(request);
  const { runId, tenantId, stepId: step, decision } = request;
  const answer = { step, decision, payloadHash: sha256Hex(payloadTextOf(request)) };
  let { waitId } = request;
  let outcome: ApprovalDecision | undefined;
  let dayAsked: Wait | undefined;
  let raised: Wait | undefined;
  const append = () =>
    appendToRun(deps, {
      runId,
      tenantId,
      decide: (state, now) => {
        outcome = approvalDecision(state, { ...answer, waitId }, now);
        if (outcome.kind === 'repeated') return [];
        const { wait } = outcome;
        // A decision that lost against feedback does not answer the question that follows from the feedback.
        waitId = wait.id;
        const decided = draftsOn(deps, { state, request, wait, now });
        const mustRaise = wait.day !== undefined && decision === 'approve' && !raised;
        dayAsked = mustRaise ? wait : undefined;
        return mustRaise ? [] : decided;
      },
    });
  let appended = await append();
  if (dayAsked) {
    raised = dayAsked;
    await raiseDay(deps, raised, request);
    appended = await append();
  }
  const { events } = appended;
  if (events.length > 0) deps.log.info('approval_decided', { runId, tenantId, stepId: step, decision });
  logCancelRequests(deps.log, appended);
  await driveAfter(deps, appended);
  if (raised && events.length > 0)
    await resumeAsking(deps, { run: appended.state, wait: raised, actor: request.actor });
  const [resolved] = events;
  if (resolved && outcome?.kind === 'decide') {
    return viewOf(request, { waitId: outcome.wait.id, actor: request.actor, at: resolved.at });
  }
  if (outcome?.kind !== 'repeated')
    throw new Error(`run ${runId}: '${step}' was neither decided nor repeated`);
  return viewOf(request, outcome.decided);
}

type Situation = Omit<Parameters<typeof decisionEvents>[0], 'workflow' | 'deployed'>;

function draftsOn({ registry }: DecideDeps, situation: Situation): EventDraft[] {
  const { state, wait } = situation;
  const workflow = workflowOf(registry, state);
  if (!workflow) throw planMissing(registry, state, wait.execution.stepId);
  return decisionEvents({ ...situation, workflow, deployed: deployedFor(registry, state) });
}

function viewOf(
  { runId, stepId, decision }: DecideRequest,
  { waitId, actor, at }: { readonly waitId: string; readonly actor?: string; readonly at: number },
): ApprovalDecided {
  return { runId, stepId, waitId, decision, decidedBy: actor, decidedAt: at };
}
