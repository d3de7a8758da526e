/** An effect call and its possible ends: input and result of act.ts, for the code that asks for a decision or records the end. */
import type { BudgetRefusal } from '../../core/budget/day.ts';
import type { EffectRecord, EffectWrite } from '../../core/effects/effect.ts';
import { type CairnError, Fatal, type NotApplied, RetryAt } from '../../core/errors.ts';
import type { EventDraft } from '../../core/run/events.ts';
import type { TraceContext } from '../../core/trace.ts';
import type { CallDecision } from '../define/call-policy.ts';
import type { EngineDeps } from '../deps.ts';
import type { CheckedRequest, EffectCaller, EffectOwner, NewRow } from './rows.ts';

/** Calls of this dispatch that have not answered, by effect: some outlive the attempt that made them. */
export type AliveCalls = Map<string, Promise<unknown>>;

export type LedgerDeps = Pick<EngineDeps, 'effects' | 'clock' | 'random' | 'log' | 'mask' | 'tracer'> & {
  readonly store: Pick<EngineDeps['store'], 'load' | 'writePayload' | 'readPayload'>;
};

export interface LedgerAppended {
  /** False: the call must not continue. */
  readonly wasWritten: boolean;
  /** Version of the rows written; undefined if the store did not report it. */
  readonly effectsVersion: string | undefined;
  /** The second half of the fence (E1). */
  readonly isStillHeld: () => Promise<boolean>;
}

/** One `perform` of a body, or an effect without a run. */
export interface PerformCall {
  readonly deps: LedgerDeps;
  readonly caller: EffectCaller;
  readonly request: CheckedRequest;
  /** The author's own key, or the number of the call among those of the capability. */
  readonly call: string | number;
  /** The caller is the compensation of the step. */
  readonly undo: boolean;
  /**
   * True if a person may be asked before the call, for the budget or by a policy. Then the body is stopped, and runs again
   * after the answer.
   */
  readonly mayAsk: boolean;
  /** Called before each call: returns why the budget of the tenant's day refuses it. Absent: there is no such budget. */
  readonly refusedBy?: (() => Promise<BudgetRefusal | undefined>) | undefined;
  /** Asks the installation's policy; absent: there is none, or it does not apply to this call. */
  readonly judge?: (() => Promise<CallDecision>) | undefined;
  /** The run may have acted before the restore of this time; epoch ms. */
  readonly restoredAt?: number | undefined;
  /** True if an earlier attempt, dispatch or run may have left rows. */
  readonly mayHaveRows: boolean;
  readonly alive: AliveCalls;
  readonly signal: AbortSignal;
  /** Appends nothing after the dispatch has released the run, or the step was sent back. */
  readonly append: (decide: (owner: EffectOwner) => readonly EventDraft[]) => Promise<LedgerAppended>;
  /** Span of this call; absent: no collector is configured. */
  readonly trace?: TraceContext | undefined;
  /** Adds events to the next append. */
  readonly note: (settled: readonly EventDraft[]) => void;
}

/** Decision required before the call. `budget`: the run, or its tenant on this day, may not make more calls. */
export type Ask = EffectAsk | { readonly why: 'budget'; readonly refusal: BudgetRefusal };

/** A question about the effect itself. */
export interface EffectAsk {
  readonly effectId: string;
  readonly capabilityId: string;
  readonly why: 'doubt' | 'policy' | 'confirmation';
  /** Ledger write in the commit that opens the question. */
  readonly write: EffectWrite;
  readonly row: EffectRecord;
}

export type ActEnd =
  /** `settled`: to be appended with what follows. */
  | {
      readonly kind: 'answered';
      readonly how: 'executed' | 'reused';
      readonly text: string;
      readonly settled: readonly EventDraft[];
    }
  | { readonly kind: 'not_applied'; readonly cause: NotApplied; readonly settled: readonly EventDraft[] }
  /** The outcome is unknown; another attempt can determine it. */
  | { readonly kind: 'doubt'; readonly cause: unknown; readonly settled: readonly EventDraft[] }
  | { readonly kind: 'ask'; readonly ask: Ask }
  /** The call is never made, because another request is recorded under its key. */
  | { readonly kind: 'mismatch'; readonly cause: CairnError }
  /** The call is never made, because a policy forbids it. */
  | { readonly kind: 'denied'; readonly cause: Fatal }
  /** The dispatch has lost the run, or the run makes no more calls. */
  | { readonly kind: 'stopped' };

/** Error that tells the engine how to handle a call that did not take effect. */
export function retryable(cause: NotApplied): Error {
  return cause.final ? new Fatal(cause.message, { cause }) : laterIf(cause);
}

/** The error, with the time of the next attempt if the receiver named one. */
export function laterIf(cause: NotApplied): Error {
  return cause.retryAt === undefined ? cause : new RetryAt(cause.retryAt, cause.message, { cause });
}

export function rowWithoutCall({ deps, request, call }: PerformCall, key: string, n: number): NewRow {
  return { key, n, request, call, bindingCallId: deps.random.token(), now: deps.clock.now() };
}
