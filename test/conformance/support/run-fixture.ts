/** Runs and journals by the real core, so that a suite stores only data that the engine could store. */

import type { IdempotencyRecord } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import { emptyChain, seal } from '../../../packages/cairn/src/core/run/chain.ts';
import type { EventDraft, RunIdentity, StepSettled } from '../../../packages/cairn/src/core/run/events.ts';
import { checkpointOf, type StepRecord, stepRecordOf } from '../../../packages/cairn/src/core/run/records.ts';
import { fold, reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { JournalCommit, StartCommit, StartRecord } from '../../../packages/cairn/src/ports/run-store.ts';

/** A time with milliseconds, so that truncation to seconds is detected. */
export const T0 = Date.UTC(2026, 4, 17, 9, 30, 15, 123);

const OWNER = 'owner-1';

function identity(changes: Partial<RunIdentity> = {}): RunIdentity {
  return {
    tenantId: 'acme',
    environment: 'test',
    type: 'review-pull-request',
    planVersion: 1,
    threadId: 'thread-1',
    trigger: { source: 'webhook', webhookEventId: 'delivery-1' },
    traceId: '0123456789abcdef0123456789abcdef',
    inputHash: 'a'.repeat(64),
    input: { text: '{"nested":[[1,2],[3]],"title":"Überprüfung 🪨"}' },
    rootRunId: 'run_root',
    ...changes,
  };
}

export interface Beginning {
  readonly at?: number;
  readonly identity?: Partial<RunIdentity>;
  readonly records?: readonly StartRecord[];
  /** Distinguishes the first events of two starts of one run. */
  readonly eventId?: string;
}

export function beginning(
  runId: string,
  { at = T0, identity: changes, records = [], eventId = 'e1' }: Beginning = {},
): StartCommit {
  const draft: EventDraft = { type: 'run_created', data: identity(changes), initiator: 'webhook' };
  const event = seal(draft, { chain: emptyChain(runId), id: `${runId}-${eventId}`, now: at });
  return { state: fold(runId, [event]), events: [event], checkpoints: [], records };
}

export interface Move {
  readonly at?: number;
  /** Distinguishes two appends at the same position. */
  readonly by?: string;
  readonly snapshot?: boolean;
  readonly metadata?: JournalCommit['metadata'];
}

export interface Moved {
  readonly after: RunState;
  readonly commit: JournalCommit;
}

/** The commit that adds the drafts to the run, and the state after it. */
export function move(
  state: RunState,
  drafts: readonly EventDraft[],
  { at = T0, by = 'x', snapshot = false, metadata }: Move = {},
): Moved {
  const events: JournalCommit['events'][number][] = [];
  const checkpoints: JournalCommit['checkpoints'][number][] = [];
  const steps: StepRecord[] = [];
  let after = state;
  for (const draft of drafts) {
    const event = seal(draft, { chain: after, id: `${by}-${after.head + 1}`, now: at });
    const checkpoint = checkpointOf(event, after, draft);
    if (checkpoint) checkpoints.push(checkpoint);
    const step = stepRecordOf(event, after.planVersion);
    if (step) steps.push(step);
    after = reduce(after, event);
    events.push(event);
  }
  const parts = { ...(snapshot ? { snapshot: after } : {}), ...(metadata ? { metadata } : {}) };
  return { after, commit: { runId: state.id, events, checkpoints, steps, ...parts } };
}

export function claim(state: RunState, expiresAt: number): EventDraft[] {
  const claimed: EventDraft = {
    type: 'run_claimed',
    data: { owner: OWNER, epoch: state.epoch + 1, expiresAt },
    initiator: 'system',
  };
  return state.status === 'pending'
    ? [claimed, { type: 'run_started', data: {}, initiator: 'system' }]
    : [claimed];
}

export function release(): EventDraft {
  return { type: 'run_released', data: { reason: 'budget', inFlight: [] }, initiator: 'system' };
}

export function succeeded(
  stepId: string,
  changes: Partial<StepSettled> & { outputText?: string } = {},
): EventDraft {
  const { outputText = '{"ok":true}', ...rest } = changes;
  const data: StepSettled = {
    stepId,
    revision: 1,
    kind: 'step',
    attempt: 1,
    inputsHash: 'b'.repeat(64),
    startedAt: T0,
    outputHash: 'c'.repeat(64),
    outputsSummary: 'ok',
    resumable: true,
    idempotent: true,
    durationMs: 12,
    ...rest,
  };
  return { type: 'step_succeeded', data, initiator: 'system', outputText };
}

export function idempotencyRecord(key: string, changes: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  return {
    key,
    source: 'api',
    tenantId: 'acme',
    runId: 'run_1',
    status: 'completed',
    requestHash: 'd'.repeat(64),
    response: { runId: 'run_1', list: [[1], [2, null]] },
    createdAt: T0,
    updatedAt: T0 + 1,
    expiresAt: T0 + 86_400_000,
    attempts: 1,
    ...changes,
  };
}
