/** Arbitraries of events by type. The table is complete, so new types and new required members must be added. */
import fc from 'fast-check';
import { TAKEOVERS } from '../../packages/cairn/src/core/run/data/takeover.ts';
import type { EventData, EventType, RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { INITIATORS } from '../../packages/cairn/src/core/run/status.ts';
import {
  attempt,
  budgetLimits,
  cost,
  count,
  decision,
  execution,
  executionMembers,
  flag,
  identityMembers,
  identityOptions,
  mode,
  plain,
  recordedError,
  refMembers,
  stepRef,
  stopKind,
  storedValue,
  text,
  time,
  tokensUsed,
  wait,
  withOptional,
  word,
} from './arbitrary-values.ts';

const settledMembers = {
  ...executionMembers,
  outputHash: text,
  outputsSummary: text,
  resumable: flag,
  idempotent: flag,
  durationMs: count,
};
const settledOptions = { itemKey: text, agent: text, tokensUsed, microUsd: count, spent: cost };
const holder = { owner: text, epoch: count };

const DATA: { readonly [K in EventType]: fc.Arbitrary<EventData[K]> } = {
  run_created: withOptional(identityMembers, identityOptions),
  run_claimed: withOptional({ ...holder, expiresAt: time }, { deadlineAt: time, budget: budgetLimits }),
  run_started: withOptional({}, { deadlineAt: time, budget: budgetLimits }),
  step_started: execution,
  step_succeeded: withOptional(settledMembers, settledOptions),
  step_degraded: withOptional({ ...settledMembers, reason: text }, settledOptions),
  step_skipped: withOptional({ ...settledMembers, reason: text }, settledOptions),
  step_reused: withOptional(
    { ...settledMembers, from: plain({ runId: text, checkpoint: count }) },
    { ...settledOptions, skipped: fc.constant(true as const) },
  ),
  step_failed: withOptional({ ...settledMembers, error: recordedError }, settledOptions),
  step_retry_scheduled: withOptional(
    { ...executionMembers, retryAt: time, error: recordedError },
    { itemKey: text, whenRoom: fc.constant(true as const) },
  ),
  effect_attempted: withOptional(
    { ...refMembers, effectId: text, capabilityId: text, attempt },
    { itemKey: text },
  ),
  effect_settled: withOptional(
    {
      ...refMembers,
      effectId: text,
      capabilityId: text,
      outcome: word('recorded', 'reused', 'failed', 'in_doubt', 'blocked'),
    },
    { itemKey: text, by: word('lookup', 'person'), originEffectId: text },
  ),
  wait_opened: withOptional({ wait }, { spent: cost }),
  wait_resolved: withOptional(
    { waitId: text },
    { decision, payloadText: fc.json(), signalId: text, raise: budgetLimits },
  ),
  wait_expired: plain({ waitId: text }),
  wait_heartbeat: plain({ waitId: text, dueAt: time }),
  signal_received: withOptional({ signalId: text, name: text, payloadText: fc.json() }, { key: text }),
  feedback_given: withOptional(
    {
      waitId: text,
      steps: fc.array(text, { maxLength: 2 }),
      again: fc.array(text, { maxLength: 3 }),
      feedback: text,
    },
    { undoable: fc.array(text, { maxLength: 2 }) },
  ),
  policy_evaluated: withOptional(
    { allowed: flag, policySnapshotId: text },
    { reason: text, stepId: text, forced: fc.constant(true as const) },
  ),
  run_suspended: withOptional(
    { status: word('awaiting_approval', 'waiting_external') },
    { reason: text, until: time, announced: fc.constant(true as const), error: recordedError },
  ),
  run_resumed: plain({ reason: text }),
  run_released: withOptional(
    {
      reason: word('budget', 'shutdown', 'retry', 'renewal', 'held', 'cleared', 'error'),
      inFlight: fc.array(stepRef, { maxLength: 3 }),
    },
    { dueAt: time, interrupted: fc.array(text, { maxLength: 2 }), error: recordedError },
  ),
  replay_started: withOptional(
    { mode, from: text },
    {
      revisions: fc.dictionary(text, attempt, { maxKeys: 2, noNullPrototype: true }),
      feedback: fc.array(plain({ steps: fc.array(text, { maxLength: 2 }), text }), { maxLength: 2 }),
      marks: fc.dictionary(text, plain({ revision: attempt, items: text }), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
    },
  ),
  replay_finished: plain({}),
  cancel_requested: withOptional({ stopKind }, { reason: text }),
  suspend_requested: plain({ reason: text }),
  continue_requested: withOptional({}, { reason: text }),
  orphan_detected: withOptional({ ...holder, lastHeartbeatAt: time }, { why: word(...TAKEOVERS) }),
  worker_lost: plain({ epoch: count }),
  compensation_started: withOptional({ steps: fc.array(text, { maxLength: 3 }) }, { error: recordedError }),
  step_compensated: stepRef,
  compensation_failed: withOptional({ ...refMembers, error: recordedError }, { itemKey: text }),
  run_completed: plain({ result: storedValue }),
  run_failed: plain({ error: recordedError }),
  run_cancelled: withOptional({ stopKind }, { reason: text }),
  run_superseded: plain({ by: text }),
  snapshot_repaired: plain({ beforeHash: text, afterHash: text }),
};

export const EVENT_TYPES = Object.keys(DATA) as readonly EventType[];

/** Any event of one type. */
export function eventOf(type: EventType): fc.Arbitrary<RunEvent> {
  return withOptional(
    {
      seq: fc.integer({ min: 1, max: 9_999_999_999 }),
      id: text,
      type: fc.constant(type),
      at: time,
      initiator: word(...INITIATORS),
      data: DATA[type] as fc.Arbitrary<unknown>,
      schemaVersion: fc.constant(1),
      prevHash: text,
      hash: text,
    },
    { actor: text, writer: plain(holder) },
  ) as unknown as fc.Arbitrary<RunEvent>;
}

export const event: fc.Arbitrary<RunEvent> = fc.oneof(...EVENT_TYPES.map(eventOf));
