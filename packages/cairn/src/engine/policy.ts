/** Asks a policy of the author, and records its decision and the rules that it used. Nothing runs without its consent. */
import { durationText } from '../core/duration.ts';
import type { EventDraft } from '../core/run/events.ts';
import type { RunState } from '../core/run/state.ts';
import { messageOf } from '../core/thrown.ts';
import { type Clock, pause } from '../ports/clock.ts';
import type { AnyPolicy } from './define/steps.ts';
import type { PolicyDecision, PolicyQuestion } from './define/types.ts';
import type { EngineDeps } from './deps.ts';

/** Maximum calls of a throwing policy before the run is deferred. */
const MAX_ASKED = 3;
const ASK_AGAIN_MS = 500;
/** Time limit of all calls of a policy together, ms: that of a step attempt without a declared timeout. */
const POLICY_ANSWER_MS = 60_000;
/** Time limit of a policy while a request waits for it, ms: callers give up after a minute. */
export const POLICY_REQUEST_MS = 20_000;

interface PolicyCall {
  readonly state: RunState;
  readonly input: unknown;
  readonly at: PolicyQuestion<unknown>['at'];
  readonly stepId?: string;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

type PolicyResult =
  /** `drafts` record the decision. */
  | { readonly kind: 'decided'; readonly allowed: boolean; readonly drafts: readonly EventDraft[] }
  /** `message`: what the policy threw, without secrets. */
  | { readonly kind: 'failed'; readonly message: string }
  /** The signal of the call aborted first. */
  | { readonly kind: 'stopped' };

interface PolicyLimits {
  readonly clock: Clock;
  readonly withinMs: number;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
}

/** @throws whatever the policy throws; an Error if it gives no decision, none in time, or none before the signal aborts */
export async function policyDecision(
  policy: AnyPolicy,
  question: PolicyQuestion<unknown>,
  { clock, withinMs, signal }: PolicyLimits,
): Promise<PolicyDecision> {
  const silent = Promise.withResolvers<never>();
  const cancel = clock.timer(withinMs, () =>
    silent.reject(new Error(`the policy did not answer within ${durationText(withinMs)}`)),
  );
  const stop = () => silent.reject(new Error('the call of the policy was aborted'));
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const answer: Partial<PolicyDecision> = await Promise.race([policy(question), silent.promise]);
    const { allowed, policySnapshotId, reason } = answer;
    if (typeof allowed !== 'boolean') throw new Error("'allowed' of a policy must be true or false");
    if (typeof policySnapshotId !== 'string')
      throw new Error('policySnapshotId of a policy must be a string');
    return { allowed, policySnapshotId, ...(reason !== undefined && { reason: messageOf(reason) }) };
  } finally {
    cancel();
    signal?.removeEventListener('abort', stop);
  }
}

/** The event that replaces a policy result when an authorised user skipped the policy once. */
export function skippedByForce(actor: string | undefined): EventDraft[] {
  const data = {
    allowed: true,
    policySnapshotId: 'forced',
    reason: `passed over by ${actor}`,
    forced: true,
  } as const;
  return [{ type: 'policy_evaluated', initiator: 'user', actor, data }];
}

export async function evaluatePolicy(
  { clock, log, mask = String }: EngineDeps,
  policy: AnyPolicy,
  { state, input, at, stepId, signal }: PolicyCall,
): Promise<PolicyResult> {
  const { id: runId, tenantId, type, environment } = state;
  const about = {
    ...{ runId, tenantId, type, environment },
    actor: state.trigger.userId,
    mode: state.source?.mode,
  };
  const step = stepId === undefined ? {} : { stepId };
  const endsAt = clock.now() + POLICY_ANSWER_MS;
  for (let tries = 1; ; tries += 1) {
    if (signal.aborted) return { kind: 'stopped' };
    try {
      const question = { ...about, input, at, ...step };
      const { allowed, policySnapshotId, reason } = await policyDecision(policy, question, {
        clock,
        withinMs: endsAt - clock.now(),
        signal,
      });
      const why = reason === undefined ? {} : { reason: mask(reason) };
      const evaluated: EventDraft = {
        type: 'policy_evaluated',
        initiator: 'policy',
        data: { allowed, policySnapshotId, ...why, ...step },
      };
      if (allowed) return { kind: 'decided', allowed, drafts: [evaluated] };
      const refused: EventDraft = {
        type: 'cancel_requested',
        initiator: 'policy',
        data: { stopKind: 'policy', ...why },
      };
      return { kind: 'decided', allowed, drafts: [evaluated, refused] };
    } catch (error) {
      if (signal.aborted) return { kind: 'stopped' };
      const message = mask(messageOf(error));
      log.warn('policy_failed', { runId, ...step, asked: tries, error: message });
      if (tries === MAX_ASKED || clock.now() + ASK_AGAIN_MS >= endsAt) return { kind: 'failed', message };
      await pause(clock, ASK_AGAIN_MS, signal);
    }
  }
}
