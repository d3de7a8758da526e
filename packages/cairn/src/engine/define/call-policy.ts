/** A rule of the installation about calls with side effects, independent of the workflows. */
import type { SideEffects } from '../../core/effects/effect.ts';

/** A call that is about to be made. */
export interface CallQuestion {
  readonly capabilityId: string;
  readonly sideEffects: SideEffects;
  /** A copy of the request, as the schema of the capability made it. */
  readonly request: unknown;
  /** Key of the step that calls: `pay`, or `flow[refund]`. */
  readonly step: string;
  readonly runId: string;
  readonly type: string;
  readonly tenantId: string;
  readonly environment: string;
  /** The actor that started the run, as in the journal; absent: unknown. */
  readonly actor?: string | undefined;
}

export type CallDecision =
  | { readonly decision: 'allow' }
  /** A person must allow the call first. `who`: the people to ask. */
  | { readonly decision: 'ask'; readonly reason: string; readonly who?: string }
  | { readonly decision: 'deny'; readonly reason: string };

export type CallPolicy = (call: CallQuestion) => CallDecision | Promise<CallDecision>;

/** @throws TypeError for an invalid decision */
export function checkedDecision(given: CallDecision | undefined): CallDecision {
  if (given?.decision === 'allow') return given;
  if (given?.decision !== 'ask' && given?.decision !== 'deny')
    throw new TypeError(`'decision' of a call policy must be 'allow', 'ask' or 'deny'`);
  if (typeof given.reason !== 'string' || given.reason === '')
    throw new TypeError(`a call policy that decides '${given.decision}' must give a 'reason'`);
  return given;
}
