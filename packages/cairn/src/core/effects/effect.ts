/**
 * One row of the side-effect ledger: what was asked of the outside for which step, and what is known of
 * it. Every idempotency key has rows `{key}.0001`, `{key}.0002`, …; the newest one that counts is decided by verdict.ts.
 * Times are epoch milliseconds; `…Text` fields are canonical JSON.
 */
import type { PayloadRef } from '../run/events.ts';

/** Side effects of a capability. `none` and `read` leave no rows. */
export const SIDE_EFFECTS = ['none', 'read', 'write', 'external_action'] as const;
export type SideEffects = (typeof SIDE_EFFECTS)[number];

/** Support of the receiver for idempotency keys; with `required` a repetition does not act again. */
export const IDEMPOTENCY = ['required', 'optional', 'not_supported'] as const;
export type Idempotency = (typeof IDEMPOTENCY)[number];

/** Handling in a replay or fork of an effect recorded in its lineage. */
export const REPLAY_POLICIES = ['use_recorded_result', 'reexecute', 'require_human'] as const;
export type ReplayPolicy = (typeof REPLAY_POLICIES)[number];

/**
 * `attempted` without a later word is in doubt. `blocked`: nothing happens before a person decides, or, of a request
 * that differs from the recorded one, at all.
 */
export type EffectStatus = 'attempted' | 'recorded' | 'reused' | 'blocked' | 'failed';

/** Why a row is blocked. */
export type BlockedBy = 'doubt' | 'policy' | 'mismatch' | 'confirmation';

/** Resolutions of an effect by an operator. */
export const RESOLUTIONS = ['recorded', 're-execute', 'failed'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** Location of a result that is too large for a row: under the payloads of the run that made it. */
export interface ResultRef extends PayloadRef {
  readonly runId: string;
}

export interface EffectRecord {
  readonly effectId: string;
  readonly idempotencyKey: string;
  /** Row number within the key, from 1. */
  readonly n: number;
  readonly tenantId: string;
  readonly rootRunId: string;
  readonly runId: string;
  readonly stepId: string;
  readonly itemKey?: string;
  readonly revision: number;
  /** Attempt of the step, and the lease under which it was made. */
  readonly attempt: number;
  readonly epoch: number;
  readonly capabilityId: string;
  readonly bindingId: string;
  /** Which call of the body it is: the author's own key, or the how-manieth of this capability, from 1. */
  readonly call?: string | number;
  /** Id of one binding call: distinguishes a late response from that of another call. */
  readonly bindingCallId: string;
  readonly effectClass: SideEffects;
  readonly replayPolicy: ReplayPolicy;
  readonly status: EffectStatus;
  readonly blockedBy?: BlockedBy;
  readonly requestHash: string;
  /** The request for display: without secret fields, absent if it is large. */
  readonly requestText?: string;
  readonly responseHash?: string;
  /** The recorded result, if the row can carry it. */
  readonly resultText?: string;
  /** Location of the result, if not inline. */
  readonly recordedResultRef?: ResultRef;
  /** Run that last asked about the effect, if not the run that made it: a successor of it. */
  readonly askedBy?: string;
  /** For a row answered from another row: that row. */
  readonly originEffectId?: string;
  /** Error, as far as known. */
  readonly error?: string;
  /** Resolution of an effect in doubt, by an operator or a lookup. */
  readonly resolution?: {
    readonly outcome: Resolution;
    readonly by: string;
    readonly at: number;
    readonly note?: string;
  };
  /** An answer that came after the effect was resolved otherwise. */
  readonly lateAnswer?: { readonly at: number; readonly responseHash?: string; readonly error?: string };
  /** Nothing was called: the run may have acted before the restore of this time. Epoch ms. */
  readonly presumedAt?: number;
  /** Time from which on a person has to look at an effect without a run (external.ts), epoch ms. Absent for rows of runs. */
  readonly askingSince?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

type Changeable =
  | 'status'
  | 'blockedBy'
  | 'attempt'
  | 'epoch'
  | 'askedBy'
  | 'bindingCallId'
  | 'responseHash'
  | 'resultText'
  | 'recordedResultRef'
  | 'error'
  | 'resolution'
  | 'lateAnswer'
  | 'askingSince';

/** Mutable part of a row. A member set to undefined is removed. */
export type EffectChange = { readonly [K in Changeable]?: EffectRecord[K] | undefined } & {
  readonly updatedAt: number;
};

/** A row that goes into a commit of the journal. `seen`: the version of the row that its writer last saw. */
export type EffectWrite =
  | { readonly kind: 'create'; readonly record: EffectRecord }
  | {
      readonly kind: 'change';
      readonly effectId: string;
      readonly seen: string;
      readonly change: EffectChange;
    };

/**
 * Most rows of one key: each is a replay, or an attempt that certainly did not take effect. A key with more is refused.
 */
export const MAX_ROWS_PER_KEY = 500;

/**
 * Returns true while the outcome of the effect is unknown. A known outcome does not change within the row: another call
 * is another row, or is made while the run that made this one is live.
 */
export function isInDoubt({
  status,
  blockedBy,
  resolution,
}: Pick<EffectRecord, 'status' | 'blockedBy' | 'resolution'>): boolean {
  return (
    status === 'attempted' || (status === 'blocked' && blockedBy === 'doubt' && resolution === undefined)
  );
}

const LOOKUP = 'lookup of ';

/** Name in a resolution of a binding that looked up the outcome. Principals never have a blank. */
export function byLookup(bindingId: string): string {
  return `${LOOKUP}${bindingId}`;
}

export function isByLookup({ by }: NonNullable<EffectRecord['resolution']>): boolean {
  return by.startsWith(LOOKUP);
}

/** Document id of a row: padded, so that the order of the ids is the order of the rows. */
export function effectIdOf(idempotencyKey: string, n: number): string {
  if (!Number.isSafeInteger(n) || n < 1 || n > 9_999) throw new RangeError(`${n} is not a row number`);
  return `${idempotencyKey}.${String(n).padStart(4, '0')}`;
}

/** Returns true if the text has the form of an effect id. */
export function isEffectId(text: string): boolean {
  return /^[0-9a-f]{64}\.\d{4}$/.test(text);
}
