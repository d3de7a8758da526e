/**
 * Every event a journal can hold, and the shape of its data. The journal is the truth of one run, so
 * a type here is a promise for as long as runs live: fields are added, never renamed or given another meaning.
 * Times are epoch milliseconds; `…Text` fields are canonical JSON text of user values.
 */
import type { BudgetLimits, Spend } from '../budget/budget.ts';
import type { EffectWrite } from '../effects/effect.ts';
import type { CheckpointRef, RunIdentity, StoredValue, SuccessorMode } from './data/identity.ts';
import type { StepKind } from './data/step-kind.ts';
import type { LostHolder, Takeover, TaskRef } from './data/takeover.ts';
import type { Wait } from './data/wait.ts';
import type { Initiator } from './status.ts';

export * from './data/identity.ts';
export type { StepKind } from './data/step-kind.ts';
export * from './data/wait.ts';

/**
 * Newest schema version that this software reads; a worker touches nothing newer. Each document has the lowest version
 * that reads it correctly, so that older workers continue with all they can. Release 0.2.0 reads 1 and 2. Version 2 is for run
 * documents with pages, and for events such as one that continues the previous one. Version 3 is for events of which 0.2.0 would
 * ignore a part, such as the limits of a budget, and for the documents of their runs.
 */
export const SCHEMA_VERSION = 3;
/** Newest version that every release reads. Events of a later one give it to the document of their run. */
export const COMMON_SCHEMA_VERSION = 2;
/** Version of events that need no newer one. */
export const FIRST_SCHEMA_VERSION = 1;

/** Names one execution of a step: a map item has an `itemKey`, feedback raises the revision (from 1). */
export interface StepRef {
  readonly stepId: string;
  readonly itemKey?: string | undefined;
  readonly revision: number;
}

/** Error of a step or a run, as the API shows it. `trace` is cut at 4,000 characters. */
export interface RecordedError {
  readonly code: string;
  readonly message: string;
  readonly stepId?: string | undefined;
  readonly retryable: boolean;
  readonly trace?: string | undefined;
}

/** The reason of a dispatch that released the run without progress. */
export interface ReleaseError extends RecordedError {
  /** Failed attempts of the compensation under way: the next dispatch continues to count. */
  readonly undo?: { readonly step: string; readonly revision: number; readonly attempts: number } | undefined;
}

/** Location of a value too large for a checkpoint: under `payloads`, in chunks, addressed by content. */
export interface PayloadRef {
  readonly sha256: string;
  readonly bytes: number;
  readonly chunks: number;
}

/** An execution of a step that has begun: which attempt, over which inputs. */
export interface StepExecution extends StepRef {
  readonly kind: StepKind;
  readonly attempt: number;
  readonly inputsHash: string;
  /** Kind and hash of a flow's request for this operation (core/flow/operation-decision.ts); absent for other steps. */
  readonly request?: string | undefined;
  /** Place in the project's source where the flow's code requested it, such as `src/orders.ts:12`; absent where unknown. */
  readonly location?: string | undefined;
  /** Begin of the first attempt of this revision. */
  readonly startedAt: number;
  /** Polls whose condition did not hold; they are not failures. Absent: none. */
  readonly polls?: number | undefined;
}

/**
 * A settled execution. Its output is in the checkpoint of the same commit. `spent`: of the run's budget, by the attempt that
 * ended; absent where the run has none, and where no attempt of a body ended.
 */
export interface StepSettled extends StepExecution {
  readonly outputHash: string;
  readonly outputsSummary: string;
  readonly resumable: boolean;
  readonly idempotent: boolean;
  readonly agent?: string | undefined;
  readonly tokensUsed?: { readonly input: number; readonly output: number };
  /** Money spent as the attempt reported it, in millionths of a US dollar. */
  readonly microUsd?: number;
  readonly durationMs: number;
  readonly spent?: Spend | undefined;
}

/** Answers to an approval. */
export const DECISIONS = ['approve', 'approve_with_waiver', 'retry_with_feedback', 'reject', 'halt'] as const;
export type Decision = (typeof DECISIONS)[number];

export const STOP_KINDS = ['user', 'system', 'policy', 'halt'] as const;

export type StopKind = (typeof STOP_KINDS)[number];

/** `deadlineAt`: latest end of the whole run. `budget`: its limits of spending. */
export interface RunLimits {
  readonly deadlineAt?: number | undefined;
  readonly budget?: BudgetLimits | undefined;
}

export interface EventData {
  run_created: RunIdentity;
  /**
   * `task`: the delivery that claimed it. `alone`: the dispatch runs one body at a time, in a process of its own. The limits are
   * those of a run that was blocked before anything began, because its plan was not deployed.
   */
  run_claimed: RunLimits & {
    readonly owner: string;
    readonly epoch: number;
    readonly expiresAt: number;
    readonly task?: TaskRef;
    readonly alone?: true;
  };
  run_started: RunLimits;
  /** `items`: of a set, the mark of its list (core/plan/item-marks.ts). `reserved`: of the run's budget. */
  step_started: StepExecution & {
    readonly items?: string | undefined;
    readonly reserved?: Spend | undefined;
  };
  step_succeeded: StepSettled;
  step_degraded: StepSettled & { readonly reason: string };
  step_skipped: StepSettled & { readonly reason: string };
  /**
   * `from`: the checkpoint that stores the output itself, in the run of the lineage that produced it. `skipped`: the source run
   * skipped the step, so its dependents treat it as skipped.
   */
  step_reused: StepSettled & { readonly from: CheckpointRef; readonly skipped?: true };
  step_failed: StepSettled & { readonly error: RecordedError };
  /**
   * `whenRoom`: its question did not fit; it is tried again when an open wait has ended, whatever `retryAt` says. `polled`:
   * the attempt did not fail, the condition that the step polls does not hold yet. `budget`: the attempt did not fail, or did
   * not begin, because the run had spent its budget.
   */
  step_retry_scheduled: StepExecution & {
    readonly retryAt: number;
    readonly whenRoom?: true;
    readonly polled?: true;
    readonly budget?: true;
    readonly error: RecordedError;
    readonly spent?: Spend | undefined;
  };
  /**
   * `requestHash`: hash of the request, by which the ledger row is verified. `presumed`: no call was made; the run may have made it
   * before its database was restored.
   */
  effect_attempted: StepRef & {
    readonly effectId: string;
    readonly capabilityId: string;
    readonly attempt: number;
    readonly requestHash?: string;
    readonly presumed?: true;
  };
  /** `by`: source of the outcome; absent: the call itself. `originEffectId`: the row with the result, if it is another one. */
  effect_settled: StepRef & {
    readonly effectId: string;
    readonly capabilityId: string;
    readonly outcome: 'recorded' | 'reused' | 'failed' | 'in_doubt' | 'blocked';
    readonly by?: 'lookup' | 'person';
    readonly originEffectId?: string | undefined;
    /** Hash of the recorded response, by which the ledger row is verified. */
    readonly responseHash?: string | undefined;
  };
  /** `spent`: of the run's budget, by the attempt that the question ended. */
  wait_opened: { readonly wait: Wait; readonly spent?: Spend | undefined };
  /**
   * `signalId`: the event or signal that resolved the wait. `payloadText`: a person's answer, canonical JSON. `raise`: amounts added
   * to the limits of the budget.
   */
  wait_resolved: {
    readonly waitId: string;
    readonly decision?: Decision | undefined;
    readonly payloadText?: string | undefined;
    readonly signalId?: string | undefined;
    readonly raise?: BudgetLimits | undefined;
  };
  wait_expired: { readonly waitId: string };
  /** The sender of the awaited event is alive. `dueAt`: the new time at which the wait fails. */
  wait_heartbeat: { readonly waitId: string; readonly dueAt: number };
  signal_received: {
    readonly signalId: string;
    readonly name: string;
    readonly key?: string | undefined;
    readonly payloadText: string;
  };
  /**
   * `steps`: steps named by the person. `again`: these steps and all their dependents; each starts its next revision. `undoable`: keys
   * of those with a completed revision that must be compensated if the run fails or is cancelled. A decision about more steps than
   * one event can name is split into several events of one commit; only the first has `steps`.
   */
  feedback_given: {
    readonly waitId: string;
    readonly steps: readonly string[];
    readonly again: readonly string[];
    readonly undoable?: readonly string[] | undefined;
    readonly feedback: string;
  };
  /** `stepId`: a step's own policy; absent: the workflow's. */
  policy_evaluated: {
    readonly allowed: boolean;
    readonly policySnapshotId: string;
    readonly reason?: string;
    readonly stepId?: string;
    /** True if an authorised user skipped the policy. */
    readonly forced?: true;
  };
  run_suspended: {
    readonly status: 'awaiting_approval' | 'waiting_external';
    /** The reason; absent: the open waits of the run. */
    readonly reason?: string;
    readonly until?: number | undefined;
    /** True if every open wait is announced. */
    readonly announced?: true;
    /** The reason of a failure that is not a step's; the run ends after the children that it waits for. */
    readonly error?: RecordedError | undefined;
  };
  run_resumed: { readonly reason: string };
  /**
   * Reason `error`: the dispatch threw; `error` has what it threw. Reason `cleared`: the run is no longer a suspect. Reason
   * `held`: operators paused its workflow or everything, or suspended the run. `interrupted`: keys of the steps whose bodies a
   * shutdown interrupted.
   */
  run_released: {
    readonly reason: 'budget' | 'shutdown' | 'retry' | 'renewal' | 'held' | 'cleared' | 'error';
    readonly inFlight: readonly StepRef[];
    readonly dueAt?: number | undefined;
    readonly interrupted?: readonly string[] | undefined;
    readonly error?: ReleaseError | undefined;
  };
  /**
   * `from` is the run whose steps are reused. `revisions`: of steps that run again, where not 1; `feedback`: feedback
   * given to steps. `marks`: of the lists whose items are reused (core/plan/item-marks.ts). Repeated by a dispatch that
   * continues after the run was blocked in between. `more`: continues the previous event, which had no room for all.
   */
  replay_started: {
    readonly mode: SuccessorMode;
    readonly from: string;
    readonly revisions?: Readonly<Record<string, number>>;
    readonly feedback?: readonly { readonly steps: readonly string[]; readonly text: string }[];
    readonly marks?: Readonly<Record<string, { readonly revision: number; readonly items: string }>>;
    readonly more?: true;
  };
  replay_finished: Record<string, never>;
  /** `withoutUndo`: skips the compensations. May follow a request without it. */
  cancel_requested: {
    readonly stopKind: StopKind;
    readonly reason?: string | undefined;
    readonly withoutUndo?: true;
  };
  /** No step may start until `continue_requested`. */
  suspend_requested: { readonly reason: string };
  continue_requested: { readonly reason?: string | undefined };
  /** `why`: absent in journals from before 0.2, in which a death does not make the run a suspect. */
  orphan_detected: LostHolder & { readonly why?: Takeover };
  /** The process of a dispatch alone died after it released the run and before it answered. `epoch`: of that dispatch. */
  worker_lost: { readonly epoch: number };
  /** `error`: why the run fails, if no step failed. `count`: number of steps, if `steps` does not name all. */
  compensation_started: {
    readonly steps: readonly string[];
    readonly count?: number | undefined;
    readonly error?: RecordedError | undefined;
  };
  step_compensated: StepRef;
  compensation_failed: StepRef & { readonly error: RecordedError };
  /** `resultHash`: SHA-256 of a result that is stored elsewhere. `unread`: number of unread signals, which stay readable; absent: none. */
  run_completed: {
    readonly result: StoredValue;
    readonly resultHash?: string | undefined;
    readonly unread?: number;
  };
  run_failed: { readonly error: RecordedError };
  /** `notUndone`: steps whose compensations were skipped. `count`: their number, if `steps` does not name all. */
  run_cancelled: {
    readonly stopKind: StopKind;
    readonly reason?: string | undefined;
    readonly unread?: number;
    readonly notUndone?:
      | { readonly steps: readonly string[]; readonly count?: number | undefined }
      | undefined;
  };
  run_superseded: { readonly by: string };
  /**
   * Hashes of the repaired content before and after. `problems`: codes of the problems found. `documents`: documents written, cut to
   * the room in an event.
   */
  snapshot_repaired: {
    readonly beforeHash: string;
    readonly afterHash: string;
    readonly problems?: readonly string[];
    readonly documents?: readonly string[];
  };
}

export type EventType = keyof EventData;

/** Writer of events that only the holder of the lease can write. */
export interface Writer {
  readonly owner: string;
  readonly epoch: number;
}

/**
 * An event before it has a place in the journal. `outputText` (or the reference, where it is large) goes to the
 * checkpoint, never into the event.
 */
export type EventDraft<T extends EventType = EventType> = {
  [K in T]: {
    readonly type: K;
    readonly data: EventData[K];
    readonly initiator: Initiator;
    readonly actor?: string | undefined;
    readonly outputText?: string;
    readonly outputRef?: PayloadRef;
    /** The row of the ledger that the event is about, where the same commit writes it. */
    readonly effect?: EffectWrite | undefined;
  };
}[T];

/** An event in its place. `id` (128 random bits) identifies our own append (J8). */
export type RunEvent<T extends EventType = EventType> = {
  [K in T]: {
    readonly seq: number;
    readonly id: string;
    readonly type: K;
    readonly at: number;
    readonly initiator: Initiator;
    readonly actor?: string;
    readonly data: EventData[K];
    readonly schemaVersion: number;
    readonly writer?: Writer;
    readonly prevHash: string;
    readonly hash: string;
  };
}[T];

/** A document was written by a newer version of this software: leave it alone and answer 503. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
  constructor(what: string, found: number) {
    super(
      `${what} has schema version ${found}; this worker knows ${SCHEMA_VERSION}. Deploy the newer version.`,
    );
  }
}

const SETTLED = new Set<EventType>([
  'step_succeeded',
  'step_degraded',
  'step_skipped',
  'step_reused',
  'step_failed',
]);

export type SettledType = 'step_succeeded' | 'step_degraded' | 'step_skipped' | 'step_reused' | 'step_failed';

/** True for the five events that end an execution of a step. */
export function isSettled(event: RunEvent): event is RunEvent<SettledType> {
  return SETTLED.has(event.type);
}
