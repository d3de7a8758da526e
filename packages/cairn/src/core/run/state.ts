/**
 * State of one run as folded from its journal (the snapshot without volatile metadata), and queries that all layers
 * use. No decisions and no storage format: `reduce/` changes it, `store/` encodes it.
 */
import type { Map as PersistentMap } from 'immutable';
import type { BudgetState } from '../budget/budget.ts';
import type { Cost } from '../cost/cost.ts';
import type { LogTotals } from '../logs/segment.ts';
import type { LegalHold } from '../retention/lineage.ts';
import type { TaskRef } from './data/takeover.ts';
import type {
  Decision,
  OnParentEnd,
  RecordedError,
  ReleaseError,
  RunIdentity,
  StepRef,
  StopKind,
  StoredValue,
  Wait,
} from './events.ts';
import type { RunningStep } from './now/running.ts';
import { isTerminal, type RunStatus } from './status.ts';

/** Outcomes a resume may skip over; anything not listed counts as not completed. */
export const SUCCESS_OUTCOMES = ['succeeded', 'degraded', 'skipped', 'reused'] as const;
type SuccessOutcome = (typeof SUCCESS_OUTCOMES)[number];
export const STEP_OUTCOMES = [...SUCCESS_OUTCOMES, 'failed'] as const;
export type StepOutcome = (typeof STEP_OUTCOMES)[number];

/** State of a step. A step that is not in the map has not begun. `seq` is the event that set the state. */
export type StepState =
  | {
      readonly phase: 'running';
      readonly seq: number;
      readonly attempt: number;
      readonly revision: number;
      readonly startedAt: number;
      readonly polls?: number | undefined;
    }
  | {
      readonly phase: 'retrying';
      readonly seq: number;
      readonly attempt: number;
      readonly revision: number;
      readonly startedAt: number;
      readonly retryAt: number;
      /** Its question did not fit among the open waits: it is due when one of them ends, not at `retryAt`. */
      readonly whenRoom?: true | undefined;
      /** Polls whose condition did not hold; absent: none. */
      readonly polls?: number | undefined;
    }
  | { readonly phase: 'waiting'; readonly seq: number; readonly revision: number }
  /** It was sent back, and starts again with this revision. */
  | { readonly phase: 'again'; readonly seq: number; readonly revision: number }
  | {
      readonly phase: 'done';
      readonly seq: number;
      readonly revision: number;
      readonly outcome: StepOutcome;
    };

export type RetryingStep = Extract<StepState, { readonly phase: 'retrying' }>;

export interface Lease {
  readonly owner: string;
  readonly epoch: number;
  readonly expiresAt: number;
  /** The delivery that claimed the run, if known: its redelivery means that the dispatch has ended or was given up. */
  readonly task?: TaskRef;
  /** Seq of the claim of a dispatch that runs alone. A step that is running and began after it is its own. */
  readonly aloneSince?: number;
}

/**
 * Suspicion against a run. It became a suspect when a worker of it died, or was shut down twice during the same step.
 * While `alone`, it is dispatched alone, one body at a time.
 */
export interface Suspicion {
  /** Number of times it became a suspect. From the second time on it stays alone until it ends. */
  readonly times: number;
  readonly alone: boolean;
  /** Keys of the steps known to have been running; the run stays alone until they have ended. */
  readonly steps: readonly string[];
  /** Deaths while alone, by the running step: {@link NO_STEP} and {@link UNDOING} mean no step. */
  readonly deaths: readonly { readonly step: string; readonly times: number }[];
  /**
   * Deaths while alone regardless of the step, the key of the last one's step, and the bodies that have ended alone
   * since. Absent: none, or enough bodies have ended since (reduce/suspicion.ts).
   */
  readonly inARow?: { readonly times: number; readonly step: string; readonly endedSince: number };
  /** Keys of the steps that the last shutdown of a shared worker interrupted. */
  readonly shutDown?: readonly string[];
  /** Steps that ended since a shared worker was last lost. Absent: none was lost, or enough steps have ended (reduce/suspicion.ts). */
  readonly sinceLoss?: number;
  /** Bodies that must end alone, besides `steps`, before the run is cleared. Absent: one, if it can be cleared at all. */
  readonly quietDue?: number;
  /** The body that shutdowns alone interrupted after a long time, and how often in a row. */
  readonly cutOff?: { readonly step: string; readonly times: number };
  /** Epoch and delivery of the last dispatch alone that released the run. Its process may still die before it answers. */
  readonly left?: { readonly epoch: number; readonly task: TaskRef };
}

/** Keys of deaths between two steps, and while steps were undone. No step has such a key. */
export const NO_STEP = '';
export const UNDOING = '(undo)';

export interface UnreadSignal {
  readonly signalId: string;
  readonly name: string;
  readonly key?: string | undefined;
  readonly payloadText: string;
  readonly at: number;
}

/** End of the newest approval of a step, kept to distinguish a repeated answer from a different one. */
export interface Decided {
  readonly stepId: string;
  readonly waitId: string;
  readonly decision: Decision | 'expired';
  /** SHA-256 of the payload. */
  readonly payloadHash: string;
  readonly actor?: string;
  readonly at: number;
}

/** Feedback given when steps were sent back. Each step is in at most one entry: the newest that concerns it. */
export interface Feedback {
  readonly seq: number;
  readonly steps: readonly string[];
  readonly text: string;
}

/** Entry of the run at an event mailbox, or a child that runs for it: removed or cancelled when the run ends. */
export type ExternalRegistration =
  | {
      readonly kind: 'event';
      readonly waitId: string;
      readonly name: string;
      readonly key: string;
      /** Event that answered the wait; kept while a mailbox may still name the run as its receiver. */
      readonly eventId?: string;
    }
  | {
      readonly kind: 'child';
      readonly waitId: string;
      readonly runId: string;
      readonly onParentEnd: OnParentEnd;
    };

/** An effect that was attempted and whose outcome the journal does not have. */
export interface OpenEffect {
  readonly effectId: string;
  readonly step: string;
  readonly revision: number;
  readonly capabilityId: string;
}

/** A completed execution, by its event. */
export interface Completed {
  readonly step: string;
  readonly revision: number;
  readonly seq: number;
}

export interface CompensationEntry {
  readonly stepId: string;
  readonly revision: number;
  readonly outcome: 'compensated' | 'failed';
  readonly at: number;
  readonly error?: RecordedError;
}

/** The folded state of a run. `epoch` outlives the lease, so that the next claim is always higher. */
export interface RunState extends RunIdentity {
  readonly id: string;
  readonly schemaVersion: number;
  readonly shard: number;
  readonly status: RunStatus;
  readonly stopKind?: StopKind;
  readonly currentStep?: string;
  readonly policySnapshotId?: string;
  /** True if the policy was not evaluated since the run began or continued. */
  readonly policyDue: boolean;
  readonly head: number;
  readonly headHash: string;
  /** Seq of the newest checkpoint; 0 before the first. */
  readonly checkpointHead: number;
  readonly lease?: Lease;
  readonly epoch: number;
  /** When an unleased run that has nothing ready is due again (long retry). */
  readonly dueAt?: number;
  /** When the whole run must have ended. */
  readonly deadlineAt?: number;
  /** Limits of its spending and amounts spent; absent: its workflow declares no budget. */
  readonly budget?: BudgetState;
  /** The reason of a suspension that is not an open wait of its own. */
  readonly parked?: string;
  /** Executions a released dispatch left unfinished; the next dispatch judges each before anything runs. */
  readonly inFlight: readonly StepRef[];
  readonly steps: PersistentMap<string, StepState>;
  readonly waits: readonly Wait[];
  /** Signals that no step has waited for yet; `UNREAD_STORED_AS` in documents and the API. */
  readonly unread: readonly UnreadSignal[];
  /** Ids of the newest received signals and events, to recognise repetitions. */
  readonly received: readonly string[];
  readonly decisions: readonly Decided[];
  readonly feedback: readonly Feedback[];
  /** External registrations, under the name that documents and the API have for them. */
  readonly ties: readonly ExternalRegistration[];
  readonly effects: readonly OpenEffect[];
  readonly result?: StoredValue;
  readonly error?: RecordedError;
  readonly lastHandoff?: readonly Wait[];
  readonly cancellation?: {
    readonly stopKind: StopKind;
    readonly reason?: string | undefined;
    readonly requestedAt: number;
    readonly actor?: string | undefined;
    /** It ends without compensations. */
    readonly withoutUndo?: true;
  };
  /** An operator suspended the run: no step begins. A cancel takes precedence. */
  readonly suspension?: { readonly reason: string; readonly requestedAt: number; readonly actor?: string };
  /** Executions of steps that were sent back, as far as they can be undone: their next revision does not undo them. */
  readonly sentBack: readonly Completed[];
  /** By step: the newest revision of each set that began, and the mark of its list. */
  readonly itemMarks?: Readonly<Record<string, { readonly revision: number; readonly items: string }>>;
  readonly compensationLog: readonly CompensationEntry[];
  /** Compensation has begun: nothing else will run any more. */
  readonly compensating: boolean;
  /** The successor that resumed this run. */
  readonly supersededBy?: string;
  /** For a successor: state of the reuse of steps from its source. Absent before it starts. */
  readonly replay?: 'under_way' | 'finished';
  readonly resumeCount: number;
  /** Interruptions since the newest checkpoint. Only counted: what ends a run is in `suspect`. */
  readonly interruptions: number;
  readonly suspect?: Suspicion;
  /** Number of consecutive failed dispatches, and the error of the last one. */
  readonly failures?: { readonly times: number; readonly error: ReleaseError };
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly durationMs?: number;
}

/** The part of the snapshot that is not folded and not checked. Times in epoch ms. */
export interface VolatileMetadata {
  readonly lastHeartbeatAt?: number | undefined;
  readonly leaseExtendedTo?: number | undefined;
  /** True if the completion duties (parent, children, event mailboxes) are done. */
  readonly dutiesMet?: boolean | undefined;
  /**
   * Events up to this sequence number are published, later ones may be. Absent: the events of this run are not
   * published.
   */
  readonly publishedSeq?: number;
  /** The bus rejected the events. Time of the next attempt to publish them, epoch ms. */
  readonly publishDueAt?: number | undefined;
  /** Id of the first event, from which the publisher rebuilds it (`first-event.ts`). */
  readonly firstEventId?: string;
  /** Last reported progress of the running bodies. */
  readonly inFlight?: readonly Progress[];
  /** Bodies running when the snapshot was written, oldest first: see `now/running.ts`. */
  readonly running?: readonly RunningStep[] | undefined;
  /** Lines that are kept of its bodies; absent: they logged none. */
  readonly logs?: LogTotals;
  /** Usage so far, as far as reported: see `journal/cost/`. Never decreases. */
  readonly cost?: Cost | undefined;
  /** Prevents the deletion of the run and its lineage. */
  readonly legalHold?: LegalHold | undefined;
  /** Time at which the run was marked for deletion; it is hidden from users. */
  readonly deletionMarkedAt?: number | undefined;
}

/** Last heartbeat of a body. `detailsText`: canonical JSON. */
export interface Progress {
  readonly step: string;
  readonly detailsText: string;
  readonly at: number;
}

/** The key of a step in the state: its id, or `id[itemKey]` for an item of a map. */
export function stepKey(ref: { readonly stepId: string; readonly itemKey?: string | undefined }): string {
  return ref.itemKey === undefined ? ref.stepId : `${ref.stepId}[${ref.itemKey}]`;
}

/** The key under which the compensation of a step keeps its memos. No step has such a key. */
export function undoMemoKey(key: string): string {
  return `${key} undone`;
}

/** The id of the step, without the item. */
export function stepIdOf(key: string): string {
  const bracket = key.indexOf('[');
  return bracket < 0 ? key : key.slice(0, bracket);
}

/** The execution that a key and a revision name: the inverse of {@link stepKey}. */
export function stepRefOf(key: string, revision: number): StepRef {
  const stepId = stepIdOf(key);
  return key === stepId
    ? { stepId, revision }
    : { stepId, itemKey: key.slice(stepId.length + 1, -1), revision };
}

/** The newest feedback with which this step was sent back, if any. */
export function feedbackFor({ feedback }: Pick<RunState, 'feedback'>, stepId: string): string | undefined {
  return feedback.find((entry) => entry.steps.includes(stepId))?.text;
}

/** Returns true if the run received the event: recently, or by a wait of its own at any time. */
export function hasReceived({ received, ties }: RunState, eventId: string): boolean {
  return received.includes(eventId) || ties.some((one) => one.kind === 'event' && one.eventId === eventId);
}

/** Side effects of one execution of which the journal knows no end: after a crash or a lost answer they are in doubt. */
export function openEffectsOf({ effects }: RunState, ref: StepRef): OpenEffect[] {
  const key = stepKey(ref);
  return effects.filter(({ step, revision }) => step === key && revision === ref.revision);
}

/** Returns true if events of the run may be unpublished. */
export function hasUnpublishedEvents({ head }: RunState, { publishedSeq }: VolatileMetadata): boolean {
  return publishedSeq !== undefined && publishedSeq < head;
}

export function hasCompletionDuties(state: RunState): boolean {
  return state.parent !== undefined || state.ties.length > 0;
}

/** True for a successor that has not finished reusing its source's steps. */
export function isImporting({ source, replay }: RunState): boolean {
  return source !== undefined && replay !== 'finished';
}

export function isSuccess(outcome: string): outcome is SuccessOutcome {
  return (SUCCESS_OUTCOMES as readonly string[]).includes(outcome);
}

/** Keys of executions with a recorded start and no outcome; a crash may have interrupted them. */
export function stepsInFlight(state: RunState): string[] {
  const open: string[] = [];
  for (const [key, step] of state.steps) if (step.phase === 'running') open.push(key);
  return open;
}

/** The same as executions, for the event by which a dispatch releases the run. */
export function refsInFlight(state: RunState): StepRef[] {
  return stepsInFlight(state).map((key) => stepRefOf(key, state.steps.get(key)?.revision ?? 1));
}

/** True if an operator suspended the run and no cancellation was requested since. */
export function isSuspended({
  suspension,
  cancellation,
}: Pick<RunState, 'suspension' | 'cancellation'>): boolean {
  return suspension !== undefined && cancellation === undefined;
}

/** True if a child is open that must end before the run can be cancelled or fail. */
export function waitsOutChildren({ waits }: Pick<RunState, 'waits'>): boolean {
  return waits.some(({ child }) => child?.onParentEnd === 'wait');
}

/** True if the run ends after such a child; until then its own due times have no effect. */
export function endsAfterChildren(
  state: Pick<RunState, 'waits' | 'cancellation' | 'error' | 'compensating'>,
): boolean {
  const isEnding = state.cancellation !== undefined || state.error !== undefined;
  return isEnding && !state.compensating && waitsOutChildren(state);
}

export function isOver(state: Pick<RunState, 'status'>): boolean {
  return isTerminal(state.status);
}

/** True if the bodies of the run must run in a separate process. An ended run has no bodies left. */
export function runsAlone(state: Pick<RunState, 'status' | 'suspect'>): boolean {
  return state.suspect?.alone === true && !isOver(state);
}
