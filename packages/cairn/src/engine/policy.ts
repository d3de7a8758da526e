/** Asks a policy of the author's, and says in the journal what it decided and by which rules. */
import type { EventDraft } from '../core/run/events.ts';
import type { RunState } from '../core/run/state.ts';
import { messageOf } from '../core/thrown.ts';
import { pause } from '../ports/clock.ts';
import type { AnyPolicy } from './define/steps.ts';
import type { PolicyQuestion } from './define/types.ts';
import type { EngineDeps } from './deps.ts';

/** Calls of a throwing policy before the run is deferred. */
const MAX_ASKED = 3;
const ASK_AGAIN_MS = 500;

export interface PolicyCall {
  readonly state: RunState;
  readonly input: unknown;
  readonly at: PolicyQuestion<unknown>['at'];
  readonly stepId?: string;
}

export interface PolicyAnswer {
  readonly allowed: boolean;
  readonly drafts: readonly EventDraft[];
}

/** Nothing may run unasked. `message`: what the policy threw, without secrets. */
export interface PolicyFailed {
  readonly failed: { readonly message: string };
}

/** Event in place of a policy result when an authorised user skipped the policy once. */
export function passedOver(actor: string | undefined): EventDraft[] {
  const data = {
    allowed: true,
    policySnapshotId: 'forced',
    reason: `passed over by ${actor}`,
    forced: true,
  } as const;
  return [{ type: 'policy_evaluated', initiator: 'user', actor, data }];
}

export async function askPolicy(
  { clock, log, masked = String }: EngineDeps,
  policy: AnyPolicy,
  { state, input, at, stepId }: PolicyCall,
): Promise<PolicyAnswer | PolicyFailed> {
  const { id: runId, tenantId, type, environment } = state;
  const about = {
    ...{ runId, tenantId, type, environment },
    actor: state.trigger.userId,
    mode: state.source?.mode,
  };
  const step = stepId === undefined ? {} : { stepId };
  for (let asked = 1; ; asked += 1) {
    try {
      const verdict = await policy({ ...about, input, at, ...step });
      const { allowed, policySnapshotId, reason } = verdict;
      if (typeof policySnapshotId !== 'string')
        throw new Error('policySnapshotId of a policy must be a string');
      const why = reason === undefined ? {} : { reason: masked(messageOf(reason)) };
      const evaluated: EventDraft = {
        type: 'policy_evaluated',
        initiator: 'policy',
        data: { allowed, policySnapshotId, ...why, ...step },
      };
      if (allowed) return { allowed, drafts: [evaluated] };
      const refused: EventDraft = {
        type: 'cancel_requested',
        initiator: 'policy',
        data: { stopKind: 'policy', ...why },
      };
      return { allowed, drafts: [evaluated, refused] };
    } catch (error) {
      const message = masked(messageOf(error));
      log.warn('policy_failed', { runId, ...step, asked, error: message });
      if (asked === MAX_ASKED) return { failed: { message } };
      await pause(clock, ASK_AGAIN_MS);
    }
  }
}
