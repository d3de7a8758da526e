/**
 * The ledger for one call of `once`, in the role of a run's dispatch and journal. A row that is created, or changed under the
 * version that was read, is the fence (E1, E9): of two processes, one is refused.
 *
 * Must not: decide how a row is handled; see engine/effects/act.ts.
 */
import type { EffectRecord, EffectWrite } from '../../core/effects/effect.ts';
import {
  askingChange,
  type ExternalTimes,
  effectAskingSince,
  expiresAt,
  forbiddenBy,
  isUnderWay,
  withoutExpiredResult,
} from '../../core/effects/external.ts';
import type { EventDraft } from '../../core/run/events.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Version } from '../../ports/run-store.ts';
import type { EffectChanged, EffectCreated, ExternalEffectStore } from '../../ports/runs/effect-store.ts';
import type { AliveCalls, LedgerAppended, LedgerDeps } from '../effects/effect-call.ts';
import { type EffectOwner, failedChange } from '../effects/rows.ts';
import { EffectForbidden } from './errors.ts';

/** Another process is making the call, or may be. */
export class CallUnderWay extends Error {
  override readonly name = 'CallUnderWay';
}

/** Another process wrote the row first: the decision is made again on the new row. */
export class RowMoved extends Error {
  override readonly name = 'RowMoved';
}

export interface ExternalLedgerOptions {
  readonly deps: Omit<LedgerDeps, 'effects'> & { readonly effects: ExternalEffectStore };
  readonly owner: EffectOwner;
  readonly requestHash: string;
  /** Calls of this process that have not answered. */
  readonly alive: AliveCalls;
  /** A call is aborted after this time, ms. */
  readonly callTimeoutMs: number;
  /** Time in ms for which rows are kept after their last change; undefined: they are not deleted. */
  readonly keepMs: number | undefined;
}

/**
 * Time between the abort of a call and the check of its outcome. It allows for the end of the call and for differences between
 * the clocks of machines.
 */
const CALL_GRACE_MS = 15_000;

export class ExternalLedger {
  readonly deps: LedgerDeps;
  readonly #options: ExternalLedgerOptions;
  /** The store's time minus this machine's, ms. */
  #aheadMs = 0;
  /** Calls of this process that have ended, by their mark. */
  readonly #ended = new Set<string>();
  #attempted:
    | { readonly effectId: string; readonly bindingCallId: string; readonly version: Version }
    | undefined;

  constructor(options: ExternalLedgerOptions) {
    this.#options = options;
    const { deps } = options;
    const { effects } = deps;
    const clock: Clock = {
      ...deps.clock,
      now: () => deps.clock.now() + this.#aheadMs,
      timer: (ms, fire) => deps.clock.timer(ms, fire),
    };
    this.deps = {
      ...deps,
      clock,
      effects: {
        rowsOf: (key) => this.#rowsOf(key),
        read: (effectId) => effects.read(effectId),
        listOfRun: (runId, page) => effects.listOfRun(runId, page),
        change: (effectId, seen, change) =>
          effects.change(effectId, seen, askingChange(change, this.#times())),
      },
    };
  }

  /** @throws RowMoved */
  append = async (decide: (owner: EffectOwner) => readonly EventDraft[]): Promise<LedgerAppended> => {
    const sentAt = this.#options.deps.clock.now();
    const writes = decide(this.#options.owner).flatMap((draft) =>
      'effect' in draft && draft.effect ? [draft.effect] : [],
    );
    const [write, ...others] = writes;
    if (others.length > 0) throw new Error('an effect without a run writes one row at a time');
    if (write === undefined)
      return { wasWritten: false, effectsVersion: undefined, isStillHeld: async () => false };
    const effectsVersion = await this.write(write);
    // After that time, another process may assume that the call's process died.
    const isStillHeld = async () => this.#options.deps.clock.now() - sentAt < this.#options.callTimeoutMs / 2;
    return { wasWritten: true, effectsVersion, isStillHeld };
  };

  /** @throws RowMoved */
  async write(write: EffectWrite): Promise<Version> {
    const { effects } = this.#options.deps;
    const stamped = this.#stamped(write);
    const { effectId } = stamped.kind === 'create' ? stamped.record : stamped;
    const written = await sendUntilKnown<EffectChanged | EffectCreated>(this.deps, () =>
      stamped.kind === 'create'
        ? effects.create(stamped.record)
        : effects.change(stamped.effectId, stamped.seen, stamped.change),
    );
    const mark = stamped.kind === 'create' ? stamped.record.bindingCallId : stamped.change.bindingCallId;
    const version = 'version' in written ? written.version : await this.#versionOfOwn(effectId, mark);
    const { status } = stamped.kind === 'create' ? stamped.record : stamped.change;
    if (status === 'attempted' && mark !== undefined)
      this.#attempted = { effectId, bindingCallId: mark, version };
    return version;
  }

  /** Call when the call of this process has ended, with any outcome. */
  noteEnd(): void {
    if (this.#attempted && !this.#options.alive.has(this.#attempted.effectId))
      this.#ended.add(this.#attempted.bindingCallId);
  }

  /** Call if the row was acknowledged too late, so that nothing was called. */
  async giveBack(): Promise<void> {
    const { effectId, version } = this.#attempted ?? {};
    if (effectId === undefined || version === undefined) return;
    const change = failedChange(
      'the store acknowledged the row too late; nothing was called',
      this.deps.clock.now(),
    );
    await sendUntilKnown(this.deps, () => this.deps.effects.change(effectId, version, change));
  }

  /** Call when no process makes the call any more. Opens the question to people now, so that the next caller need not wait. */
  async leaveInDoubt(): Promise<void> {
    const { effectId, bindingCallId } = this.#attempted ?? {};
    if (effectId === undefined || !this.#ended.has(bindingCallId ?? '')) return;
    const { effects } = this.#options.deps;
    const found = await sendUntilKnown(this.deps, () => effects.read(effectId));
    if (found?.record.status !== 'attempted' || found.record.bindingCallId !== bindingCallId) return;
    const now = this.deps.clock.now();
    const change = { askingSince: now, updatedAt: found.record.updatedAt };
    await sendUntilKnown(this.deps, () => effects.change(effectId, found.version, change));
  }

  /** True if the call of this process has ended. */
  get hasEnded(): boolean {
    return this.#attempted !== undefined && this.#ended.has(this.#attempted.bindingCallId);
  }

  get effectId(): string | undefined {
    return this.#attempted?.effectId;
  }

  async #rowsOf(key: string) {
    const { effects, clock } = this.#options.deps;
    const { rows: stored, readAt } = await effects.rowsNow(key);
    this.#aheadMs = readAt - clock.now();
    const rows = stored.map((row) => ({ ...row, record: withoutExpiredResult(row.record, readAt) }));
    const records = rows.map(({ record }) => record);
    const forbidden = forbiddenBy(records, this.#options.requestHash);
    if (forbidden)
      throw new EffectForbidden(forbidden.effectId, forbidden.resolution.by, forbidden.resolution.note);
    if (records.some((row) => isUnderWay(row, readAt) && !this.#isOwn(row))) throw new CallUnderWay();
    return rows;
  }

  /** An ended call of this process is in doubt at once; act.ts waits for one that has not ended. */
  #isOwn({ effectId, bindingCallId }: EffectRecord): boolean {
    return this.#options.alive.has(effectId) || this.#ended.has(bindingCallId);
  }

  #stamped(write: EffectWrite): EffectWrite {
    if (write.kind === 'change') return { ...write, change: askingChange(write.change, this.#times()) };
    const { record } = write;
    const times = this.#times();
    const { keepMs } = times;
    const stamps = {
      askingSince: effectAskingSince(record, times),
      keepMs,
      expiresAt: expiresAt(record, times),
    };
    return { kind: 'create', record: { ...record, ...stamps } };
  }

  #times(): ExternalTimes {
    const { callTimeoutMs, keepMs } = this.#options;
    return { now: this.deps.clock.now(), underWayMs: callTimeoutMs + CALL_GRACE_MS, keepMs };
  }

  /**
   * The version of the row if an earlier sending of the same write was applied although its answer was lost. @throws RowMoved
   */
  async #versionOfOwn(effectId: string, mark: string | undefined): Promise<Version> {
    const found = await sendUntilKnown(this.deps, () => this.#options.deps.effects.read(effectId));
    if (mark !== undefined && found?.record.bindingCallId === mark && found.record.status === 'attempted')
      return found.version;
    throw new RowMoved(effectId);
  }
}
