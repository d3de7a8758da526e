/**
 * Applies the installation's call policy: it allows a call, requires a person's permission first, or forbids the call. If the policy
 * fails, no call is made.
 */
import { permissionDecision } from '../../core/effects/decision.ts';
import { NotApplied } from '../../core/errors.ts';
import type { StepExecution } from '../../core/run/events.ts';
import { cut } from '../../core/run/records.ts';
import { type RunState, stepKey } from '../../core/run/state.ts';
import { messageOf } from '../../core/thrown.ts';
import { type CallDecision, type CallPolicy, checkedDecision } from '../define/call-policy.ts';
import type { Capability } from '../define/capability.ts';
import { CallForbidden } from '../recording/output.ts';
import type { ActEnd, PerformCall } from './effect-call.ts';
import type { LedgerLookup } from './ledger-lookup.ts';
import { confirmFirst } from './questions.ts';
import type { CheckedRequest } from './rows.ts';

/** Longest reason that is recorded and shown. */
const MAX_REASON_CHARS = 1_000;

interface JudgedCall {
  readonly state: RunState;
  readonly execution: StepExecution;
  readonly capability: Capability;
  readonly request: CheckedRequest;
}

/** Undefined: the installation has no policy. */
export function judgeOf(
  policy: CallPolicy | undefined,
  { state, execution, capability, request }: JudgedCall,
): PerformCall['judge'] {
  if (!policy) return undefined;
  const { id: runId, type, tenantId, environment, trigger } = state;
  const { id: capabilityId, sideEffects } = capability;
  const about = { runId, type, tenantId, environment, actor: trigger.userId };
  return async () =>
    policy({
      ...about,
      capabilityId,
      sideEffects,
      step: stepKey(execution),
      // A copy: changes that the policy makes to it must not reach the receiver.
      request: structuredClone(request.value),
    });
}

/** Returns undefined if the call may be made. @param n of the row that would ask */
export async function stoppedByPolicy(
  effectCall: PerformCall,
  ledger: LedgerLookup,
  n: number,
): Promise<ActEnd | undefined> {
  const { deps, judge, request, caller, mayAsk } = effectCall;
  const { mask = String } = deps;
  if (!judge) return undefined;
  const permission = permissionDecision(ledger.rows, request.hash, n);
  // A permission that was already given applies whatever the policy decides now.
  if (permission.kind === 'act') return undefined;
  const { id } = caller.capability;
  let answer: CallDecision;
  try {
    answer = checkedDecision(await judge());
  } catch (error) {
    const cause = new NotApplied(`the call policy could not decide about '${id}': ${messageOf(error)}`);
    return { kind: 'not_applied', cause, settled: [] };
  }
  if (answer.decision === 'allow') return undefined;
  const reason = cut(mask(messageOf(answer.reason)), MAX_REASON_CHARS);
  if (answer.decision === 'deny')
    return denied(effectCall, `a policy forbids the call of '${id}': ${reason}`);
  if (!mayAsk) {
    const why = `a policy wants a person asked about '${id}', and a step with 'idempotent: false' cannot be`;
    return denied(effectCall, `${why}: ${reason}`);
  }
  const who = answer.who === undefined ? '' : `${cut(mask(messageOf(answer.who)), MAX_REASON_CHARS)}: `;
  return confirmFirst(effectCall, ledger, permission, `${who}${reason}`);
}

function denied({ caller, deps }: PerformCall, message: string): ActEnd {
  const { stepId } = caller.execution;
  deps.log.info('call_denied', { runId: caller.state.id, stepId, capabilityId: caller.capability.id });
  return { kind: 'denied', cause: new CallForbidden(message) };
}
