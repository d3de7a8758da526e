/**
 * Creates ledger rows: for a call, a response, a reuse. Pure except for the author's schema.
 *
 * Must not: decide which row to create (core/effects/decision.ts).
 */
import {
  type AskingEffect,
  type AttemptedEffect,
  effectIdOf,
  type FailedChange,
  type RecordedChange,
  type RecordedEffect,
  type RepeatingEffect,
  type ReusedEffect,
  type StoredResponse,
} from '../../core/effects/effect.ts';
import { sha256Hex } from '../../core/encoding/hash.ts';
import { toJsonText } from '../../core/encoding/json.ts';
import { Fatal, invalidInput } from '../../core/errors.ts';
import { firstIssue, type Issue } from '../../core/first-issue.ts';
import { parsedData } from '../../core/parsed-data.ts';
import type { StepExecution } from '../../core/run/events.ts';
import { CHECKPOINT_VALUE_BYTES, MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import { cut, TRACE_CHARS } from '../../core/run/records.ts';
import type { RunState } from '../../core/run/state.ts';
import { assertFits, needsPayload } from '../../core/run/values.ts';
import { maskPaths } from '../../core/secrets/mask.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { Binding, Capability } from '../define/capability.ts';

/** Largest request shown from the ledger; of a larger one only the hash is stored. */
const SHOWN_REQUEST_BYTES = 16 * 1024;

/** Request of an effect call. */
export interface CheckedRequest {
  /** The request after the capability's schema: the argument of the binding. */
  readonly value: unknown;
  readonly hash: string;
  /** Without its secret fields; absent if it is long. */
  readonly shownText?: string | undefined;
}

/** Members of the acting run, or of its substitute for an effect without a run, that the ledger needs. */
export type EffectOwner = Pick<
  RunState,
  | 'id'
  | 'tenantId'
  | 'rootRunId'
  | 'resumedFrom'
  | 'effectScopes'
  | 'epoch'
  | 'createdAt'
  | 'effects'
  | 'cancellation'
  | 'budget'
> & { readonly steps: Pick<RunState['steps'], 'get'> };

/** Caller of an effect, as recorded in every row (E7). */
export interface EffectCaller {
  readonly state: EffectOwner;
  readonly execution: StepExecution;
  readonly capability: Capability;
  readonly binding: Binding;
}

/** @throws Fatal if the schema of the capability refuses the request; CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE */
export function checkedRequest(capability: Capability, given: unknown): CheckedRequest {
  const parsed = parsedData(capability.request, given);
  if ('issues' in parsed) {
    throw new Fatal(`the request to '${capability.id}' ${mismatch(parsed.issues)}`);
  }
  const what = `the request to '${capability.id}'`;
  const text = toJsonText(parsed.data, what);
  assertFits(text, what, CHECKPOINT_VALUE_BYTES);
  const shown = maskPaths(text, capability.secrets.request);
  return {
    value: parsed.data,
    hash: sha256Hex(text),
    shownText: Buffer.byteLength(shown) <= SHOWN_REQUEST_BYTES ? shown : undefined,
  };
}

export interface NewRow {
  readonly key: string;
  readonly n: number;
  readonly request: CheckedRequest;
  readonly call: string | number;
  readonly bindingCallId: string;
  /** Epoch ms. */
  readonly now: number;
}

function rowOf(
  caller: EffectCaller,
  { key, n, request, call, bindingCallId, now }: NewRow,
): Omit<AttemptedEffect, 'status'> {
  const { state, execution, capability, binding } = caller;
  const { stepId, itemKey, revision, attempt } = execution;
  return {
    effectId: effectIdOf(key, n),
    idempotencyKey: key,
    n,
    tenantId: state.tenantId,
    rootRunId: state.rootRunId,
    runId: state.id,
    stepId,
    itemKey,
    revision,
    attempt,
    epoch: state.epoch,
    capabilityId: capability.id,
    bindingId: binding.id,
    call,
    bindingCallId,
    effectClass: capability.sideEffects,
    replayPolicy: capability.replayPolicy,
    requestHash: request.hash,
    requestText: request.shownText,
    createdAt: now,
    updatedAt: now,
  };
}

export function attemptedRow(caller: EffectCaller, row: NewRow): AttemptedEffect {
  return { ...rowOf(caller, row), status: 'attempted' };
}

/** The row of a call that was answered from a recorded result, without a call. */
export function reusedRow(caller: EffectCaller, row: NewRow, origin: RecordedEffect): ReusedEffect {
  const { responseHash, effectId: originEffectId } = origin;
  return { ...rowOf(caller, row), status: 'reused', originEffectId, responseHash };
}

/** The row of a call that waits for a person's permission. @param policyReason undefined: the capability requires it */
export function confirmationRow(caller: EffectCaller, row: NewRow, policyReason?: string): AskingEffect {
  const why = policyReason === undefined ? '' : `: ${policyReason}`;
  const error = `'${caller.capability.id}' requires confirmation by an operator${why}`;
  return { ...rowOf(caller, row), status: 'blocked', blockedBy: 'confirmation', policyReason, error };
}

/** The row of a call that was not made because of a recorded action; `error` has the reason. */
export function repeatingRow(
  caller: EffectCaller,
  row: NewRow,
  { by: blockedBy, error, origin }: BlockedByRecord,
): RepeatingEffect {
  return { ...rowOf(caller, row), status: 'blocked', blockedBy, error, originEffectId: origin.effectId };
}

interface BlockedByRecord {
  readonly by: RepeatingEffect['blockedBy'];
  readonly error: string;
  readonly origin: RecordedEffect;
}

/**
 * Stores an answer that is too large for a row. The answer is kept unchanged, even if it violates the schema, because the
 * action took place.
 *
 * @throws CairnError INVALID_INPUT if it is not JSON, PAYLOAD_TOO_LARGE
 */
export async function answerOf(
  store: Pick<RunStore, 'writePayload'>,
  runId: string,
  capability: Pick<Capability, 'id' | 'secrets'>,
  response: unknown,
): Promise<{ readonly answer: StoredResponse; readonly text: string }> {
  const what = `the answer of '${capability.id}'`;
  const text = maskPaths(toJsonText(response ?? null, what), capability.secrets.response);
  assertFits(text, what, MAX_PAYLOAD_BYTES);
  const responseHash = sha256Hex(text);
  if (!needsPayload(text)) return { answer: { responseHash, resultText: text }, text };
  const recordedResultRef = { runId, ...(await store.writePayload(runId, text)) };
  return { answer: { responseHash, recordedResultRef }, text };
}

/** The text of a recorded result. */
export function resultTextOf(
  store: Pick<RunStore, 'readPayload'>,
  { resultText, recordedResultRef: ref }: RecordedEffect,
): Promise<string> {
  return ref === undefined ? Promise.resolve(resultText) : store.readPayload(ref.runId, ref);
}

/** Response given to the body from a recorded result. @throws Fatal if the schema of the capability refuses it */
export function responseOf({ id, response }: Capability, text: string): unknown {
  const parsed = parsedData(response, JSON.parse(text));
  if ('data' in parsed) return parsed.data;
  throw new Fatal(`'${id}' took effect, but its response ${mismatch(parsed.issues)}`);
}

function mismatch(issues: readonly Issue[]): string {
  const { field, why } = firstIssue(issues);
  return `does not match its schema${field === '' ? '' : ` at '${field}'`}: ${why}`;
}

export function recordedChange(answer: StoredResponse, now: number): RecordedChange {
  return { status: 'recorded', ...answer, error: undefined, blockedBy: undefined, updatedAt: now };
}

export function failedChange(error: string, now: number): FailedChange {
  return { status: 'failed', error: cut(error, TRACE_CHARS), updatedAt: now };
}

/** @throws CairnError naming the call that the step did not declare */
export function assertDeclared(uses: readonly Capability[], capability: Capability, stepId: string): void {
  if (uses.includes(capability)) return;
  throw invalidInput('uses', `step '${stepId}' does not list '${capability?.id}' in 'uses'`, {
    stepId,
    help: `Add the capability to 'uses' of the step.`,
  });
}
