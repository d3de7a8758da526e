/** The immutable members of a run, set by its first event. Import them through `events.ts`. */
import type { PayloadRef } from '../events.ts';

/** A value kept inline as text, or a pointer to the checkpoint of this run that holds it. */
export type StoredValue = { readonly text: string } | { readonly checkpoint: number };

export interface Trigger {
  readonly source: 'ui' | 'cli' | 'webhook' | 'scheduled' | 'api';
  readonly userId?: string | undefined;
  readonly webhookEventId?: string;
  /** Time of the slot of a schedule, epoch ms; absent in runs that an earlier version started. */
  readonly slotAt?: number;
}

export interface RunIdentity {
  readonly tenantId: string;
  readonly environment: string;
  readonly type: string;
  readonly planVersion: number;
  /** Fingerprint of the plan it was started on (core/plan/plan.ts); absent: the run is older than fingerprints. */
  readonly planFingerprint?: string;
  readonly threadId: string;
  readonly repoId?: string | undefined;
  readonly prId?: string | undefined;
  readonly prUrl?: string | undefined;
  /** Derived by the workflow from the input, such as `customer:42`; see core/search/tags.ts. */
  readonly tags?: readonly string[] | undefined;
  readonly trigger: Trigger;
  readonly idempotencyKey?: string | undefined;
  readonly a2aCorrelationId?: string | undefined;
  readonly traceId: string;
  /** The caller's sampling decision; absent: the trace id decides. */
  readonly traceSampled?: boolean | undefined;
  readonly inputHash: string;
  readonly input: StoredValue;
  /** The checkpoint with the large input of a successor's source, however many runs lie between. */
  readonly inputFrom?: CheckpointRef | undefined;
  /** The input with its secret members, which `input` lacks; only step bodies read it. Absent: it has none. */
  readonly secretInput?: (PayloadRef & { readonly runId: string }) | undefined;
  readonly rootRunId: string;
  /** Absent: the shard is computed with `SHARD_COUNT` shards. */
  readonly shard?: number;
  readonly resumedFrom?: string | undefined;
  readonly source?: SuccessorSource | undefined;
  /**
   * Replays and forks of its lineage that may have called again (E4, E6), including itself, newest first. Absent for a run that
   * is neither a replay nor a fork, and has none among its sources.
   */
  readonly effectScopes?: readonly EffectScope[] | undefined;
  readonly parent?: ParentRef | undefined;
  readonly versions?:
    | { readonly capabilities?: string; readonly bindings?: string; readonly registryRef?: string }
    | undefined;
}

/** The run that started a child. */
export interface ParentRef {
  readonly runId: string;
  /** Key of the step that waits for the child. Of runs made before 0.2 the id of its wait. */
  readonly stepId: string;
  /** Topmost run of its parents. Absent in runs created before 0.2. */
  readonly topRunId?: string;
}

export const SUCCESSOR_MODES = ['resume', 'replay', 'fork'] as const;
export type SuccessorMode = (typeof SUCCESSOR_MODES)[number];

/** The source of a successor, and the point from which it continues. */
export interface SuccessorSource {
  readonly runId: string;
  readonly mode: SuccessorMode;
  /** Only steps completed by this checkpoint (its document id) are reused. */
  readonly checkpointId?: string;
  /** The newest checkpoint of the source (its document id) when the successor was created. Absent in runs made before 0.2. */
  readonly checkpointHead?: string;
  /** This step and its dependents run in any case. */
  readonly stepId?: string;
  /** The admin who overrode the policy of the workflow at its start. */
  readonly forcedBy?: string | undefined;
  /** `carry`: the unread signals of the source become unread signals of this run. */
  readonly signals?: 'carry' | undefined;
}

/** A checkpoint of another run, which holds a value that is not copied. */
export interface CheckpointRef {
  readonly runId: string;
  readonly checkpoint: number;
}

/** A replay or fork: how it answers actions that were recorded before it. */
export interface EffectScope {
  readonly runId: string;
  readonly mode: 'replay' | 'fork';
}
