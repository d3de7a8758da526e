/**
 * Documents beside an event: its checkpoint and its step record. Both are functions of the event (and of its output),
 * so a repair can rebuild every step record from the journal alone.
 */
import {
  type CheckpointRef,
  isSettled,
  type PayloadRef,
  type RunEvent,
  type SettledType,
  type StepExecution,
  type StepKind,
} from './events.ts';
import { type RunState, type StepOutcome, stepKey } from './state.ts';

export const BOUNDARIES = [
  'run_created',
  'run_started',
  'step_completed',
  'suspended',
  'run_finished',
] as const;
export type Boundary = (typeof BOUNDARIES)[number];

/** Immutable record at a boundary. Times in epoch ms. */
export interface Checkpoint {
  readonly seq: number;
  readonly boundary: Boundary;
  readonly planVersion: number;
  /** Seq of the checkpoint before this one; 0 for the first. */
  readonly parent: number;
  readonly at: number;
  readonly stepId?: string;
  readonly itemKey?: string | undefined;
  readonly revision?: number;
  readonly attempt?: number;
  readonly outcome?: StepOutcome | 'completed' | 'failed' | 'cancelled';
  readonly inputsHash?: string;
  /** The flow's request for this operation, as in its execution; absent for other steps. */
  readonly request?: string | undefined;
  readonly outputHash?: string;
  /** The output as canonical JSON, if it is small enough to be stored here. */
  readonly outputText?: string | undefined;
  /** Location of the output, if stored as a payload. */
  readonly outputRef?: PayloadRef | undefined;
  /** Checkpoint of an earlier run of the lineage that has the reused output. */
  readonly outputFrom?: CheckpointRef | undefined;
  readonly outputsSummary?: string;
  readonly errorTrace?: string;
  readonly agent?: string | undefined;
  readonly tokensUsed?: { readonly input: number; readonly output: number } | undefined;
  /** Money spent, in millionths of a US dollar. */
  readonly microUsd?: number | undefined;
  readonly resumable?: boolean;
  readonly idempotent?: boolean;
  readonly startedAt?: number;
  readonly durationMs?: number;
}

/** The output that travels with an event to its checkpoint, itself or by reference. */
export interface CarriedOutput {
  readonly outputText?: string | undefined;
  readonly outputRef?: PayloadRef | undefined;
}

export const STEP_STATUSES = [
  'pending',
  'running',
  'waiting',
  'succeeded',
  'degraded',
  'skipped',
  'failed',
] as const;
type StepStatus = (typeof STEP_STATUSES)[number];

/**
 * State of a step for people and the API; one document a step, `id` is the step's key. Compensations are in the log of the run,
 * which outlives revisions.
 */
export interface StepRecord {
  readonly id: string;
  readonly kind: StepKind;
  readonly status: StepStatus;
  readonly planVersion: number;
  readonly inputsHash: string;
  /** Source location that requested it, as in its execution. */
  readonly location?: string | undefined;
  readonly outputsSummary?: string;
  readonly errorTrace?: string;
  /** Seq of the checkpoint with the output, once there is one. */
  readonly checkpoint?: number;
  readonly attempts: number;
  readonly startedAtMs: number;
  readonly updatedAtMs: number;
  /** Duration of the execution, once it has ended; for a reused step, that of the original. */
  readonly durationMs?: number;
  readonly revision: number;
}

/** Longest summary of an output that a step record carries, in characters. */
export const SUMMARY_CHARS = 240;
/** Longest error trace kept, in characters. */
export const TRACE_CHARS = 4_000;

const OUTCOMES: { readonly [K in SettledType]: StepOutcome } = {
  step_succeeded: 'succeeded',
  step_degraded: 'degraded',
  step_skipped: 'skipped',
  step_reused: 'reused',
  step_failed: 'failed',
};

/** The checkpoint of an event at a boundary, else undefined. `before` is the state the event was folded onto. */
export function checkpointOf(
  event: RunEvent,
  before: RunState | undefined,
  { outputText, outputRef }: CarriedOutput = {},
): Checkpoint | undefined {
  const outputFrom = takenFrom(event);
  const boundary = boundaryOf(event, (outputText ?? outputRef ?? outputFrom) !== undefined);
  if (!boundary) return undefined;
  const planVersion = event.type === 'run_created' ? event.data.planVersion : before?.planVersion;
  if (planVersion === undefined) throw new Error(`event ${event.seq} has no run before it`);
  return {
    seq: event.seq,
    boundary,
    planVersion,
    parent: before?.checkpointHead ?? 0,
    at: event.at,
    ...(outputText === undefined ? {} : { outputText }),
    ...(outputRef === undefined ? {} : { outputRef }),
    ...(outputFrom === undefined ? {} : { outputFrom }),
    ...(isSettled(event) ? settledFields(event) : {}),
    ...terminalFields(event),
  };
}

/** The step record after an event, or undefined if the event is about no step. */
export function stepRecordOf(event: RunEvent, planVersion: number): StepRecord | undefined {
  switch (event.type) {
    case 'step_started':
      return { ...executionFields(event.data, event, planVersion), status: 'running' };
    case 'wait_opened':
      return { ...executionFields(event.data.wait.execution, event, planVersion), status: 'waiting' };
    case 'step_retry_scheduled':
      return {
        ...executionFields(event.data, event, planVersion),
        status: 'pending',
        ...(event.data.polled ? {} : traceOf(event.data.error)),
      };
    case 'step_succeeded':
    case 'step_degraded':
    case 'step_skipped':
    case 'step_reused':
    case 'step_failed':
      return settledRecord(event, planVersion);
    default:
      return undefined;
  }
}

/** Cuts text to `limit` characters, marking the cut; never splits a surrogate pair. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns true if the event is committed with a checkpoint. */
export function isBoundary(event: RunEvent): boolean {
  return boundaryOf(event, false) !== undefined;
}

function boundaryOf(event: { readonly type: RunEvent['type'] }, carries: boolean): Boundary | undefined {
  switch (event.type) {
    case 'run_created':
      return carries ? 'run_created' : undefined;
    case 'run_started':
      return 'run_started';
    case 'step_succeeded':
    case 'step_degraded':
    case 'step_skipped':
    case 'step_reused':
      return 'step_completed';
    case 'run_suspended':
      return 'suspended';
    case 'run_completed':
    case 'run_failed':
    case 'run_cancelled':
      return 'run_finished';
    default:
      return undefined;
  }
}

/** Location of a reused output. */
function takenFrom(event: RunEvent): CheckpointRef | undefined {
  if (event.type === 'run_created') return event.data.inputFrom;
  return event.type === 'step_reused' ? event.data.from : undefined;
}

function settledFields({ type, data }: RunEvent<SettledType>): Partial<Checkpoint> {
  const { stepId, itemKey, revision, attempt, inputsHash, outputHash, outputsSummary } = data;
  const { agent, tokensUsed, microUsd, resumable, idempotent, startedAt, durationMs, request } = data;
  return {
    stepId,
    itemKey,
    revision,
    attempt,
    outcome: OUTCOMES[type],
    inputsHash,
    request,
    outputHash,
    outputsSummary,
    resumable,
    idempotent,
    startedAt,
    durationMs,
    agent,
    tokensUsed,
    microUsd,
  };
}

function terminalFields(event: RunEvent): Partial<Checkpoint> {
  switch (event.type) {
    case 'run_completed':
      return { outcome: 'completed' };
    case 'run_failed':
      return { outcome: 'failed', ...traceOf(event.data.error) };
    case 'run_cancelled':
      return { outcome: 'cancelled' };
    default:
      return {};
  }
}

function executionFields(
  data: StepExecution,
  event: RunEvent,
  planVersion: number,
): Omit<StepRecord, 'status'> {
  return {
    id: stepKey(data),
    kind: data.kind,
    planVersion,
    inputsHash: data.inputsHash,
    location: data.location,
    attempts: data.attempt,
    startedAtMs: data.startedAt,
    updatedAtMs: event.at,
    revision: data.revision,
  };
}

function settledRecord(event: RunEvent<SettledType>, planVersion: number): StepRecord {
  const outcome = OUTCOMES[event.type];
  return {
    ...executionFields(event.data, event, planVersion),
    status: statusOf(event),
    durationMs: event.data.durationMs,
    ...(outcome === 'failed' ? {} : { outputsSummary: event.data.outputsSummary, checkpoint: event.seq }),
    ...(event.type === 'step_failed' ? traceOf(event.data.error) : {}),
  };
}

/** Status of the step; for a reused step, the status of the original. */
function statusOf(event: RunEvent<SettledType>): StepStatus {
  if (event.type !== 'step_reused') return OUTCOMES[event.type] as Exclude<StepOutcome, 'reused'>;
  return event.data.skipped ? 'skipped' : 'succeeded';
}

function traceOf(error: {
  readonly code: string;
  readonly message: string;
  readonly trace?: string | undefined;
}): { errorTrace: string } {
  return { errorTrace: cut(error.trace ?? `${error.code}: ${error.message}`, TRACE_CHARS) };
}
