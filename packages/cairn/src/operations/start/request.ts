/** Request, dependencies and response of a start. Types only. */

import type { RequestSource } from '../../core/decisions/idempotency.ts';
import type { CheckpointRef, EffectScope, RunIdentity, SuccessorSource } from '../../core/run/events.ts';
import type { TraceContext } from '../../core/trace.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import type { RunDeps } from '../../engine/deps.ts';
import type { IdempotencyStore } from '../../ports/idempotency-store.ts';
import type { Supersedes } from '../../ports/run-store.ts';
import type { RecentStarts } from './recent-starts.ts';

export interface StartDeps extends RunDeps {
  readonly records: IdempotencyStore;
  /** Cache of this instance; absent: every repetition reads the store. */
  readonly recent?: RecentStarts;
  /** Shards of the installation; absent: the default number. */
  readonly shards?: number;
  /** Lock of requests whose work is more than one commit: see `OnceDeps`. */
  readonly processingLockMs?: number;
}

type GivenIdentity = Pick<RunIdentity, 'tenantId' | 'environment' | 'trigger'> & {
  readonly [K in 'parent' | 'threadId' | 'repoId' | 'prId' | 'prUrl' | 'a2aCorrelationId']?:
    | RunIdentity[K]
    | undefined;
};

export interface StartRequest extends GivenIdentity {
  /** Chosen by the parent for a child; otherwise random. */
  readonly runId?: string | undefined;
  readonly lineage?: Lineage | undefined;
  readonly workflow: Workflow;
  /** Validated by the workflow's schema, which also drops members that the workflow does not use. */
  readonly input: unknown;
  readonly source: RequestSource;
  /** See core/encoding/idempotency-keys.ts. Undefined: every request is new work (API calls without a key). */
  readonly key: string | undefined;
  readonly requestHash: string;
  /** GitHub only: key of the content. Two deliveries with it within a day are the same request (`GITHUB_SECONDARY_WINDOW_MS`). */
  readonly secondaryKey?: string | undefined;
  /** The span of the caller; absent: the run begins a new trace. */
  readonly trace?: TraceContext | undefined;
}

/** Members that make a run the successor of another. */
export interface Lineage {
  readonly rootRunId: string;
  readonly source: SuccessorSource;
  readonly resumedFrom?: string | undefined;
  /** Scopes of the source. A replay or fork adds its own before them. */
  readonly effectScopes: readonly EffectScope[];
  /** Requester. */
  readonly actor?: string | undefined;
  /** The inherited input of the source: the value itself, or the checkpoint that has it. */
  readonly input?: {
    readonly hash: string;
    readonly value: { readonly text: string } | CheckpointRef;
    readonly secretInput?: RunIdentity['secretInput'];
    readonly tags?: RunIdentity['tags'];
  };
  /**
   * The write about the source in the commit of the start, given the id of the new run. Called again for every try.
   * `done`: an earlier try has written it. Throws if the write is not allowed.
   */
  readonly supersede?: (by: string) => Promise<Supersedes | 'done'>;
}

/** Response to a start. The record stores it, so that a repetition gets the same bytes. */
export type StartResponse = {
  readonly runId: string;
  readonly type: string;
  readonly planVersion: number;
  readonly status: 'pending';
  readonly threadId: string;
  readonly createdAt: string;
};

export type StartResult =
  | { readonly kind: 'created' | 'replayed'; readonly runId: string; readonly response: StartResponse }
  | { readonly kind: 'in_flight' };
