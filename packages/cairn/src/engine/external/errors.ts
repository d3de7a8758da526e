/** Errors of an effect without a run that its caller must handle. */

/** Errors of a call that a person must decide about: its outcome is unknown, or the first call needs permission. */
export type PendingReason = 'doubt' | 'confirmation' | 'policy';

/** The call waits for a person's decision, after which the next call with the same key makes it. The call may be repeated at any time. */
export class EffectPending extends Error {
  override readonly name = 'EffectPending';
  readonly code = 'EFFECT_PENDING';
  readonly why: PendingReason;
  readonly effectId: string;
  /** Owner of the effect in place of a run, as shown in the inbox and by `cairn effects`. */
  readonly owner: string;
  readonly help: string;

  constructor({ why, effectId, owner, what, cause }: PendingOptions) {
    super(`${what} (${owner})`, cause === undefined ? undefined : { cause });
    this.why = why;
    this.effectId = effectId;
    this.owner = owner;
    this.help = `A person resolves it in the inbox or with: cairn effects resolve ${owner} ${effectId} recorded|re-execute|failed. Then call again with the same key.`;
  }
}

interface PendingOptions {
  readonly why: PendingReason;
  readonly effectId: string;
  readonly owner: string;
  /** A sentence without a full stop. */
  readonly what: string;
  readonly cause?: unknown;
}

/** A person has forbidden the action. Another action needs another key. */
export class EffectForbidden extends Error {
  override readonly name = 'EffectForbidden';
  readonly code = 'EFFECT_FORBIDDEN';
  readonly effectId: string;
  readonly by: string;

  constructor(effectId: string, by: string, note: string | undefined) {
    super(`${by} decided that the action shall not be done${note === undefined ? '' : `: ${note}`}`);
    this.effectId = effectId;
    this.by = by;
  }
}
