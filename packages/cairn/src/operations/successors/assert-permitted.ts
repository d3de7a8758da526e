/**
 * Evaluates the policy of the workflow before a successor is created, including one of a child started by its parent. A
 * refusal then leaves the source unchanged, so that an authorised user can resume it. The first dispatch of the successor
 * evaluates the policy again and records the result.
 */
import { CairnError } from '../../core/errors.ts';
import type { SuccessorMode } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import { maskOf, secretTexts } from '../../core/secrets/mask.ts';
import { messageOf } from '../../core/thrown.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import type { PolicyDecision } from '../../engine/define/types.ts';
import { POLICY_REQUEST_MS, policyDecision } from '../../engine/policy.ts';
import { runInput } from '../../engine/run-input.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { ofRun } from '../../ports/log.ts';
import type { StartDeps } from '../start/request.ts';
import type { Prepared } from './prepare.ts';
import type { SuccessorRequest } from './request.ts';

/** @throws CairnError as {@link assertAllowed} */
export async function assertPermitted(
  deps: StartDeps,
  { actor, mode, force }: SuccessorRequest,
  { loaded: { state }, workflow, input: given }: Prepared,
): Promise<void> {
  if (!workflow.policy || force) return;
  const input =
    given.kind === 'given' ? given.value : await sendUntilKnown(deps, () => runInput(deps.store, state));
  await assertAllowed(deps, { source: state, workflow, mode, actor, input });
}

interface PermissionRequest {
  readonly source: RunState;
  readonly workflow: Workflow;
  readonly mode: SuccessorMode;
  readonly actor: string | undefined;
  readonly input: unknown;
}

/** @throws CairnError FORBIDDEN if the policy refuses, UNAVAILABLE if it fails or takes longer than {@link POLICY_REQUEST_MS} */
export async function assertAllowed(
  deps: StartDeps,
  { source, workflow: { policy, secretInput }, mode, actor, input }: PermissionRequest,
): Promise<void> {
  if (!policy) return;
  const mask = maskOf(secretTexts(input, secretInput)) ?? String;
  const { id: runId, tenantId, environment, type } = source;
  let decision: PolicyDecision;
  try {
    const question = { input, runId, tenantId, environment, type, actor, mode, at: 'start' } as const;
    decision = await policyDecision(policy, question, { clock: deps.clock, withinMs: POLICY_REQUEST_MS });
  } catch (error) {
    deps.log.warn('policy_failed', { ...ofRun(source), mode, error: mask(messageOf(error)) });
    throw new CairnError('UNAVAILABLE', 'the policy of the workflow could not be evaluated', {
      cause: error,
    });
  }
  if (decision.allowed) return;
  const { policySnapshotId, reason } = decision;
  deps.log.info('policy_refused', { ...ofRun(source), mode, actor, policySnapshotId });
  const why = reason === undefined ? '' : `: ${mask(reason)}`;
  throw new CairnError('FORBIDDEN', `the policy of '${type}' does not allow this ${mode}${why}`, {
    details: { policySnapshotId, runId },
    help: `Run ${runId} is unchanged. Ask someone whom the policy allows, or an admin with "force": true.`,
  });
}
