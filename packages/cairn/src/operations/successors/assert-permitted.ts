/**
 * Asks the policy of the workflow before a successor is made: a refusal then leaves the source as it was, to be resumed by
 * somebody who may. The first drive of the successor asks again, and its journal says what was answered.
 */
import { CairnError } from '../../core/errors.ts';
import { messageOf } from '../../core/thrown.ts';
import type { PolicyVerdict } from '../../engine/define/types.ts';
import { runInput } from '../../engine/run-input.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { ofRun } from '../../ports/log.ts';
import type { Prepared } from './prepare.ts';
import type { SuccessorDeps, SuccessorRequest } from './request.ts';

/** @throws CairnError FORBIDDEN if the policy refuses, UNAVAILABLE if it could not answer */
export async function assertPermitted(
  deps: SuccessorDeps,
  { actor, mode, force }: SuccessorRequest,
  { loaded: { state }, workflow, input: given }: Prepared,
): Promise<void> {
  const { policy } = workflow;
  if (!policy || force) return;
  const input =
    given.kind === 'given' ? given.value : await sendUntilKnown(deps, () => runInput(deps.store, state));
  const { id: runId, tenantId, environment, type } = state;
  let verdict: PolicyVerdict;
  try {
    verdict = await policy({ input, runId, tenantId, environment, type, actor, mode, at: 'start' });
  } catch (error) {
    deps.log.warn('policy_failed', { ...ofRun(state), mode, error: messageOf(error) });
    throw new CairnError('UNAVAILABLE', 'the policy of the workflow could not be asked', { cause: error });
  }
  if (verdict.allowed) return;
  deps.log.info('policy_refused', {
    ...ofRun(state),
    mode,
    actor,
    policySnapshotId: verdict.policySnapshotId,
  });
  const why = verdict.reason === undefined ? '' : `: ${verdict.reason}`;
  throw new CairnError('FORBIDDEN', `the policy of '${type}' does not allow this ${mode}${why}`, {
    details: { policySnapshotId: verdict.policySnapshotId },
    help: 'Nothing was changed. Somebody whom the policy allows can do it, or an admin with "force": true.',
  });
}
