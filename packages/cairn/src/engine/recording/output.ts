/**
 * Outputs and errors of executions as stored in the journal: made from the value that a body returned or threw, from received
 * data, or composed of other outputs.
 *
 * Must not: know their source.
 */
import type { ZodType } from 'zod';
import { sha256Hex } from '../../core/encoding/hash.ts';
import { toJsonText } from '../../core/encoding/json.ts';
import { CairnError, Fatal, OperationFailed } from '../../core/errors.ts';
import { allIssues, firstIssue } from '../../core/first-issue.ts';
import { parsedData } from '../../core/parsed-data.ts';
import type { PayloadRef, RecordedError } from '../../core/run/events.ts';
import { MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import { cut, TRACE_CHARS } from '../../core/run/records.ts';
import { assertFits, needsPayload } from '../../core/run/values.ts';
import type { Mask } from '../../core/secrets/mask.ts';
import { messageOf, stacksOf } from '../../core/thrown.ts';
import type { RunStore } from '../../ports/run-store.ts';

export interface Output {
  readonly text: string;
  readonly hash: string;
  /** Location of an output that is too large for a checkpoint. */
  readonly ref?: PayloadRef;
}

/** The value that a step returned is not JSON, or does not match its schema. */
class InvalidOutput extends Fatal {}

export function outputFrom(text: string): Output {
  return { text, hash: sha256Hex(text) };
}

/** Output of a skipped step, for dependents that run nevertheless and for the fingerprint of their inputs. */
export const NO_OUTPUT: Output = outputFrom('null');

/** Outcome of an execution, as its dependents need it. */
export type Outcome =
  | { readonly kind: 'done'; readonly output: Output }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly error: RecordedError };

/** Usage that an attempt reports beside its result. */
export interface Used {
  readonly agent?: string;
  readonly tokensUsed?: { readonly input: number; readonly output: number };
  readonly microUsd?: number;
}

/** A value in its stored form. @throws InvalidOutput if JSON would change it; CairnError PAYLOAD_TOO_LARGE */
export function outputOf(value: unknown, what: string): Output {
  const text = outputText(value, what);
  assertFits(text, what, MAX_PAYLOAD_BYTES);
  return outputFrom(text);
}

function outputText(value: unknown, what: string): string {
  try {
    return toJsonText(value, what);
  } catch (error) {
    if (!(error instanceof CairnError) || error.code === 'PAYLOAD_TOO_LARGE') throw error;
    throw new InvalidOutput(`${error.message}. ${error.help}`, { cause: error });
  }
}

/** An output composed of others, or the error if they are too large together. */
export function composedOutput(text: string, what: string): Output | RecordedError {
  try {
    assertFits(text, what, MAX_PAYLOAD_BYTES);
    return outputFrom(text);
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    return { code: error.code, message: error.message, retryable: false };
  }
}

/** Validates a value with the schema of the step. A refusal is final, because it would be repeated. */
export function checked(
  step: { readonly id: string; readonly output?: ZodType | undefined },
  value: unknown,
): unknown {
  if (!step.output) return value;
  const parsed = parsedData(step.output, value);
  if ('data' in parsed) return parsed.data;
  const { issues, thrown: cause } = parsed;
  const { field, why } = firstIssue(issues);
  const where = field === '' ? '' : ` at '${field}'`;
  const detail = issues.length === 1 ? `${where}: ${why}` : `: ${allIssues(issues).why}`;
  throw new InvalidOutput(`the output of step '${step.id}' does not match its schema${detail}`, { cause });
}

/** Stores an output that is too large for a checkpoint among the run's payloads, before the commit that refers to it. */
export async function storeIfLarge(store: RunStore, runId: string, output: Output): Promise<Output> {
  if (output.ref !== undefined || !needsPayload(output.text)) return output;
  return { ...output, ref: await store.writePayload(runId, output.text) };
}

/** Parses canonical text into a frozen value, because several readers share it. */
export function parseFrozen(text: string): unknown {
  return frozen(JSON.parse(text));
}

/** Freezes the value and all its members. A reviver of `JSON.parse` would take several times as long. */
function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

/**
 * An error in its stored form.
 *
 * @param cause readable (core/thrown.ts); it need not be an error
 * @param mask removes secrets, before truncation could leave a part of one; undefined: there are none
 */
export function recordedError(stepId: string, cause: unknown, mask: Mask | undefined): RecordedError {
  const code = codeOf(cause);
  const retryable = !(cause instanceof CairnError || cause instanceof Fatal);
  const masked = (text: string) => cut(mask ? mask(text) : text, TRACE_CHARS);
  const trace = traceOf(cause, mask);
  return { code, message: masked(messageOf(cause)), stepId, retryable, trace };
}

/** The stacks; for an output for which a function within the author's schema threw, those of the function. */
function traceOf(cause: unknown, mask: Mask | undefined): string | undefined {
  const ofSchema = cause instanceof InvalidOutput ? stacksOf(cause.cause, TRACE_CHARS, mask) : undefined;
  return ofSchema ?? stacksOf(cause, TRACE_CHARS, mask);
}

/** The installation's policy forbids a call of the step. */
export class CallForbidden extends Fatal {}

function codeOf(cause: unknown): string {
  if (cause instanceof CairnError || cause instanceof OperationFailed) return cause.code;
  if (cause instanceof CallForbidden) return 'EFFECT_FORBIDDEN';
  return cause instanceof InvalidOutput ? 'STEP_OUTPUT_INVALID' : 'STEP_FAILED';
}
