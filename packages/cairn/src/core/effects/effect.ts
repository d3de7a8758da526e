/**
 * One row of the side-effect ledger: the request of an external call, the step that made it, and its outcome as far as known.
 * Every idempotency key has rows `{key}.0001`, `{key}.0002`, …; decision.ts decides which one counts. Times are epoch
 * milliseconds; `…Text` fields are canonical JSON.
 */
import type { Without } from '../optional.ts';
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
 * `attempted` without an outcome is in doubt. `blocked`: no call is made before a person decides; or never, if the request
 * differs from the recorded one.
 */
export const EFFECT_STATUSES = ['attempted', 'recorded', 'reused', 'blocked', 'failed'] as const;
export type EffectStatus = (typeof EFFECT_STATUSES)[number];

/** The reasons why a row is blocked. */
export const BLOCKED_BY = ['doubt', 'policy', 'mismatch', 'confirmation'] as const;
export type BlockedBy = (typeof BLOCKED_BY)[number];

export const RESOLUTIONS = ['recorded', 're-execute', 'failed'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** Location of a result that is too large for a row: under the payloads of the run that made it. */
export interface ResultRef extends PayloadRef {
  readonly runId: string;
}

/** Members of rows of every status. */
interface EffectRow {
  readonly effectId: string;
  readonly idempotencyKey: string;
  /** Row number within the key, from 1. */
  readonly n: number;
  readonly tenantId: string;
  readonly rootRunId: string;
  readonly runId: string;
  readonly stepId: string;
  readonly itemKey?: string | undefined;
  readonly revision: number;
  /** Attempt of the step, and the lease under which it was made. */
  readonly attempt: number;
  readonly epoch: number;
  readonly capabilityId: string;
  readonly bindingId: string;
  /** The author's own key, or the sequence number of this call among the body's calls of the capability, from 1. */
  readonly call?: string | number | undefined;
  /** Id of one binding call: distinguishes a late response from that of another call. */
  readonly bindingCallId: string;
  readonly effectClass: SideEffects;
  readonly replayPolicy: ReplayPolicy;
  readonly requestHash: string;
  /** The request for display: without secret fields, absent if it is large. */
  readonly requestText?: string | undefined;
  /** Successor that last asked about the effect, if another run made the call. */
  readonly askedBy?: string | undefined;
  /** Reason of the policy that required a confirmation of the call. Absent if no policy did. */
  readonly policyReason?: string | undefined;
  /** Error, as far as known. */
  readonly error?: string | undefined;
  /** An answer that arrived after a person had resolved the effect differently. */
  readonly lateAnswer?: LateResponse | undefined;
  /** No call was made: the run may have made it before the restore at this time. Epoch ms. */
  readonly presumedAt?: number | undefined;
  /** Time from which on a person has to check an effect without a run (external.ts), epoch ms. Absent for rows of runs. */
  readonly askingSince?: number | undefined;
  /** Only for an effect without a run: ms for which the row is kept after its last change. Absent: it is not deleted. */
  readonly keepMs?: number | undefined;
  /** From then on the row counts as deleted, epoch ms. */
  readonly expiresAt?: number | undefined;
  /** Time of the last call, if it was repeated; epoch ms. Absent: the call was made when the row was created. */
  readonly calledAt?: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface LateResponse {
  readonly at: number;
  readonly responseHash?: string | undefined;
  readonly error?: string | undefined;
}

export interface EffectResolution {
  readonly outcome: Resolution;
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  readonly note?: string | undefined;
}

interface Resolvable {
  readonly resolution?: EffectResolution | undefined;
}

/** An answer in a row: the whole value, or a reference to where it is stored. */
export type StoredResponse = { readonly responseHash: string } & (
  | ({ readonly resultText: string } & Without<'recordedResultRef'>)
  | ({ readonly recordedResultRef: ResultRef } & Without<'resultText'>)
);

type AnswerMember = 'responseHash' | 'resultText' | 'recordedResultRef';

export interface AttemptedEffect
  extends EffectRow,
    Without<AnswerMember | 'blockedBy' | 'originEffectId' | 'resolution'> {
  readonly status: 'attempted';
}

export type RecordedEffect = EffectRow &
  StoredResponse &
  Resolvable &
  Without<'blockedBy' | 'originEffectId'> & { readonly status: 'recorded' };

/** No call was made: the recorded row `originEffectId` gave the answer. */
export interface ReusedEffect
  extends EffectRow,
    Without<'resultText' | 'recordedResultRef' | 'blockedBy' | 'resolution'> {
  readonly status: 'reused';
  readonly originEffectId: string;
  readonly responseHash: string;
}

export interface FailedEffect
  extends EffectRow,
    Resolvable,
    Without<AnswerMember | 'blockedBy' | 'originEffectId'> {
  readonly status: 'failed';
}

/** Asks for the outcome of a call, or for permission to make one. */
export interface AskingEffect extends EffectRow, Resolvable, Without<AnswerMember | 'originEffectId'> {
  readonly status: 'blocked';
  readonly blockedBy: 'doubt' | 'confirmation';
}

/** Asks for permission to repeat the effect `originEffectId`, or is refused because its request differs. */
export interface RepeatingEffect extends EffectRow, Resolvable, Without<AnswerMember> {
  readonly status: 'blocked';
  readonly blockedBy: 'policy' | 'mismatch';
  readonly originEffectId: string;
}

export type EffectRecord =
  | AttemptedEffect
  | RecordedEffect
  | ReusedEffect
  | FailedEffect
  | AskingEffect
  | RepeatingEffect;

/** Members of every change, independent of the status. */
interface RowChange {
  readonly askedBy?: string | undefined;
  readonly lateAnswer?: LateResponse;
  readonly askingSince?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly resolution?: EffectResolution;
  readonly updatedAt: number;
}

/** Keeps the status. */
interface NotedChange extends RowChange, Without<'status' | 'blockedBy' | 'bindingCallId'> {}

/** The call is repeated. */
interface AttemptedChange extends RowChange, Without<'blockedBy'> {
  readonly status: 'attempted';
  readonly attempt: number;
  readonly epoch: number;
  readonly bindingCallId: string;
  readonly calledAt: number;
}

export type RecordedChange = RowChange &
  StoredResponse &
  Without<'blockedBy' | 'bindingCallId' | 'error'> & { readonly status: 'recorded' };

export interface FailedChange extends RowChange, Without<'blockedBy' | 'bindingCallId' | 'responseHash'> {
  readonly status: 'failed';
  readonly error?: string;
}

interface BlockedChange extends RowChange, Without<'bindingCallId'> {
  readonly status: 'blocked';
  readonly blockedBy: Exclude<BlockedBy, 'mismatch'>;
  /** End of the last attempt, if the outcome is in doubt. */
  readonly error?: string;
}

/** Mutable part of a row. A member set to undefined is removed. */
export type EffectChange = NotedChange | AttemptedChange | RecordedChange | FailedChange | BlockedChange;

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
 * Maximum of rows of one key: each row is a replay, or an attempt that certainly did not take effect. A key with more rows is
 * refused.
 */
export const MAX_ROWS_PER_KEY = 500;

/**
 * True while the outcome of the effect is unknown. A known outcome does not change: another call gets another row, or is made
 * while the run of this row is live.
 */
export function isInDoubt({ status, blockedBy, resolution }: EffectRecord): boolean {
  return status === 'attempted' || (blockedBy === 'doubt' && resolution === undefined);
}

/** True for a question or a refusal, for which no call was made. */
export function isWithoutCall({ blockedBy }: EffectRecord): boolean {
  return blockedBy !== undefined && blockedBy !== 'doubt';
}

const LOOKUP = 'lookup of ';

/** Name in a resolution of a binding that looked up the outcome. Principals never have a blank. */
export function byLookup(bindingId: string): string {
  return `${LOOKUP}${bindingId}`;
}

export function isByLookup({ by }: EffectResolution): boolean {
  return by.startsWith(LOOKUP);
}

/** Document id of a row: padded, so that the order of the ids is the order of the rows. */
export function effectIdOf(idempotencyKey: string, n: number): string {
  if (!Number.isSafeInteger(n) || n < 1 || n > 9_999) throw new RangeError(`${n} is not a row number`);
  return `${idempotencyKey}.${String(n).padStart(4, '0')}`;
}

export function isEffectId(text: string): boolean {
  return /^[0-9a-f]{64}\.\d{4}$/.test(text);
}
