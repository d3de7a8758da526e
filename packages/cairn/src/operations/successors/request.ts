/** Request and response of a successor. Types only. */

import type { SuccessorMode, Trigger } from '../../core/run/events.ts';
import type { EffectStore } from '../../ports/runs/effect-store.ts';
import type { RunOfTenant } from '../append-to-run.ts';
import type { StartDeps, StartRequest } from '../start/request.ts';

export interface PreviewDeps extends StartDeps {
  readonly effects: EffectStore;
}

/**
 * From a step: the step and its dependents run. From a checkpoint, by sequence number: steps completed by then are reused.
 */
export type From = { readonly step: string } | { readonly checkpoint: number };

/** The requested successor, and its source. */
export interface WantedSuccessor extends RunOfTenant {
  readonly mode: SuccessorMode;
  readonly from?: From | undefined;
  /** For a fork: an input that replaces the one of its source. */
  readonly input?: { readonly value: unknown } | undefined;
  /** For a fork; absent: that of its source. */
  readonly planVersion?: number | undefined;
  /** For a fork; absent: that of its source. */
  readonly threadId?: string | undefined;
  /** `carry`: the successor takes over unread signals of its source. */
  readonly signals?: 'carry' | undefined;
}

export interface SuccessorRequest
  extends WantedSuccessor,
    Pick<StartRequest, 'key' | 'requestHash' | 'trace' | 'a2aCorrelationId'> {
  readonly actor: string;
  /** True: the policy of the workflow is not evaluated. */
  readonly force: boolean;
  /** Kind of the requesting program; absent: `api`. */
  readonly client?: Trigger['source'];
}
