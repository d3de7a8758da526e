/** One attempt of one step: calls the body under a timeout and turns whatever happens into a value. */

import { sha256Hex } from '../../core/encoding/hash.ts';
import { toJsonText } from '../../core/encoding/json.ts';
import { CairnError, Fatal } from '../../core/errors.ts';
import type { RecordedError } from '../../core/run/events.ts';
import { cut, TRACE_CHARS } from '../../core/run/records.ts';
import { assertFits } from '../../core/run/values.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PlainStep } from '../define/steps.ts';
import type { Output } from './outputs.ts';

/** Why a body's signal aborts, as `signal.reason`. */
export class StepAborted extends Error {
  override readonly name = 'StepAborted';
  readonly why: 'timeout' | 'cancel' | 'budget' | 'shutdown' | 'lease_lost';
  constructor(why: StepAborted['why']) {
    super(`the step was asked to stop: ${why}`);
    this.why = why;
  }
}

export type AttemptResult =
  | { readonly kind: 'succeeded'; readonly output: Output }
  /** `cause` is what was thrown: it decides about a retry. */
  | { readonly kind: 'failed'; readonly cause: unknown; readonly error: RecordedError }
  /** It was asked to stop and did not end with a result: neither success nor failure. */
  | { readonly kind: 'unfinished' };

export interface AttemptParams {
  readonly step: PlainStep;
  readonly context: Readonly<Record<string, unknown>>;
  /** Aborted by the drive to stop the body, and by this function on a timeout. */
  readonly abort: AbortController;
  readonly clock: Clock;
}

/** Never rejects. A body that ignores its timeout is left behind; nothing it still does is recorded. */
export async function runAttempt({ step, context, abort, clock }: AttemptParams): Promise<AttemptResult> {
  const timeout = Promise.withResolvers<AttemptResult>();
  const cancelTimer = clock.timer(step.timeoutMs, () => {
    if (abort.signal.aborted) return;
    abort.abort(new StepAborted('timeout'));
    timeout.resolve(timedOut(step));
  });
  try {
    return await Promise.race([callBody(step, context, abort.signal), timeout.promise]);
  } finally {
    cancelTimer();
  }
}

async function callBody(
  step: PlainStep,
  context: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<AttemptResult> {
  try {
    const value = await step.body(context);
    const text = toJsonText(checked(step, value), `output of step '${step.id}'`);
    assertFits(text, `output of step '${step.id}'`);
    return { kind: 'succeeded', output: { text, hash: sha256Hex(text) } };
  } catch (cause) {
    if (signal.aborted) return { kind: 'unfinished' };
    return { kind: 'failed', cause: permanent(cause), error: recorded(step.id, cause) };
  }
}

/** What the schema of the step makes of a value; a value it refuses would be refused again, so that is final. */
function checked(step: PlainStep, value: unknown): unknown {
  if (!step.output) return value;
  const parsed = step.output.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue && issue.path.length > 0 ? ` at '${issue.path.join('.')}'` : '';
  throw new Fatal(
    `the output of step '${step.id}' does not match its schema${where}: ${issue?.message ?? 'invalid'}`,
  );
}

/** Errors of ours about the output are as final as `Fatal`: the same body would return the same again. */
function permanent(cause: unknown): unknown {
  return cause instanceof CairnError ? new Fatal(cause.message, { cause }) : cause;
}

function timedOut(step: PlainStep): AttemptResult {
  const message = `step '${step.id}' did not end within ${step.timeoutMs} ms`;
  // Nobody knows what a body that was left behind has done or will do: only an idempotent one may be tried again.
  const cause = step.idempotent ? new Error(message) : new Fatal(message);
  return {
    kind: 'failed',
    cause,
    error: { code: 'STEP_TIMEOUT', message, stepId: step.id, retryable: step.idempotent },
  };
}

/** An error as the journal keeps it. Anything can be thrown, also what is no error. */
export function recorded(stepId: string, cause: unknown): RecordedError {
  const code = cause instanceof CairnError ? cause.code : 'STEP_FAILED';
  const retryable = !(cause instanceof CairnError || cause instanceof Fatal);
  if (!(cause instanceof Error))
    return { code, message: cut(describe(cause), TRACE_CHARS), stepId, retryable };
  return {
    code,
    message: cut(cause.message.toWellFormed(), TRACE_CHARS),
    stepId,
    retryable,
    ...(cause.stack ? { trace: cut(cause.stack.toWellFormed(), TRACE_CHARS) } : {}),
  };
}

function describe(thrown: unknown): string {
  try {
    return String(thrown).toWellFormed();
  } catch {
    return 'a value that has no text was thrown';
  }
}
