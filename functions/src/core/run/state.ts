/**
 * What the journal folds to: the state of one run (the snapshot without its `soft` part) and the questions every
 * layer asks of it. No decisions here, and no storage form: `reduce/` changes it, `store/` encodes it.
 */
import type { Map as PersistentMap } from 'immutable';
import type { RecordedError, RunIdentity, StepRef, StopKind, StoredValue, Wait } from './events.ts';
import { isTerminal, type RunStatus } from './status.ts';

/** Outcomes a resume may skip over (DESIGN 2.8); anything not listed counts as not completed. */
export const SUCCESS_OUTCOMES = ['succeeded', 'degraded', 'skipped', 'reused'] as const;
export type SuccessOutcome = (typeof SUCCESS_OUTCOMES)[number];
export type StepOutcome = SuccessOutcome | 'failed';

/** Where a step of the run stands. A step that is not in the map has not begun. `seq` is the event that says so. */
export type StepState =
  | {
      readonly phase: 'running';
      readonly seq: number;
      readonly attempt: number;
      readonly revision: number;
      readonly startedAt: number;
    }
  | {
      readonly phase: 'retrying';
      readonly seq: number;
      readonly attempt: number;
      readonly revision: number;
      readonly startedAt: number;
      readonly retryAt: number;
    }
  | { readonly phase: 'waiting'; readonly seq: number; readonly revision: number }
  | {
      readonly phase: 'done';
      readonly seq: number;
      readonly revision: number;
      readonly outcome: StepOutcome;
    };

export interface Lease {
  readonly owner: string;
  readonly epoch: number;
  readonly expiresAt: number;
}

export interface InboxSignal {
  readonly signalId: string;
  readonly name: string;
  readonly payloadText: string;
  readonly at: number;
}

export interface CompensationEntry {
  readonly stepId: string;
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
  readonly head: number;
  readonly headHash: string;
  /** Seq of the newest checkpoint; 0 before the first. */
  readonly checkpointHead: number;
  readonly lease?: Lease;
  readonly epoch: number;
  /** When an unleased run that has nothing ready is due again (long retry). */
  readonly dueAt?: number;
  /** Executions a released drive left unfinished; the next drive judges each before anything runs (section 9). */
  readonly inFlight: readonly StepRef[];
  readonly steps: PersistentMap<string, StepState>;
  readonly waits: readonly Wait[];
  readonly inbox: readonly InboxSignal[];
  readonly result?: StoredValue;
  readonly error?: RecordedError;
  readonly lastHandoff?: readonly Wait[];
  readonly cancellation?: {
    readonly stopKind: StopKind;
    readonly reason?: string;
    readonly requestedAt: number;
    readonly actor?: string;
  };
  readonly compensationLog: readonly CompensationEntry[];
  readonly supersededBy?: string;
  readonly resumeCount: number;
  /** Interruptions since the newest checkpoint; five of them end the run (section 9). */
  readonly interruptions: number;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly durationMs?: number;
}

/** The part of the snapshot that is not folded and not checked. Times in epoch ms. */
export interface SoftState {
  readonly lastHeartbeatAt?: number;
  readonly leaseExtendedTo?: number;
}

/** The key of a step in the state: its id, or `id[itemKey]` for an item of a map. */
export function stepKey(ref: { readonly stepId: string; readonly itemKey?: string }): string {
  return ref.itemKey === undefined ? ref.stepId : `${ref.stepId}[${ref.itemKey}]`;
}

export function isSuccess(outcome: string): outcome is SuccessOutcome {
  return (SUCCESS_OUTCOMES as readonly string[]).includes(outcome);
}

/** Executions with a recorded start and no outcome: what a crash may have caught in the middle. */
export function stepsInFlight(state: RunState): string[] {
  const open: string[] = [];
  for (const [key, step] of state.steps) if (step.phase === 'running') open.push(key);
  return open;
}

export function isOver(state: RunState): boolean {
  return isTerminal(state.status);
}
