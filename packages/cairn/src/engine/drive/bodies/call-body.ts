/** One attempt of one step: calls the body under a timeout and returns any end as a value. */
import type { ZodType } from 'zod';
import { durationText } from '../../../core/duration.ts';
import { CairnError, Fatal, RetryAt } from '../../../core/errors.ts';
import type { RecordedError } from '../../../core/run/events.ts';
import type { OpenEffect } from '../../../core/run/state.ts';
import type { Mask } from '../../../core/secrets/mask.ts';
import { readableThrown } from '../../../core/thrown.ts';
import type { Clock } from '../../../ports/clock.ts';
import { isDegraded } from '../../define/body-result.ts';
import type { BodyStep, Context } from '../../define/steps.ts';
import type { Ask } from '../../effects/effect-call.ts';
import { checked, type Output, outputOf, recordedError } from '../../recording/output.ts';

/** The `signal.reason` of a body's aborted signal. */
export class StepAborted extends Error {
  override readonly name = 'StepAborted';
  readonly why: 'timeout' | 'cancel' | 'budget' | 'shutdown' | 'lease_lost' | 'superseded' | 'asked';
  constructor(why: StepAborted['why']) {
    super(`the step was asked to stop: ${why}`);
    this.why = why;
  }
}

/** A value was returned. */
interface AttemptSuccess {
  readonly kind: 'succeeded';
  readonly output: Output;
  /** Reason of a degraded output; absent: it is not degraded. */
  readonly degraded?: string;
}

/** `cause`: the thrown value, which decides about a retry. */
interface AttemptFailure {
  readonly kind: 'failed';
  readonly cause: unknown;
  readonly error: RecordedError;
  /** Effects with an unknown outcome: the step cannot end before they are resolved. */
  readonly doubts?: readonly OpenEffect[];
  /** No failure: the step polls, and its condition does not hold yet. The error names the time of the next poll. */
  readonly polled?: RetryAt;
}

export type AttemptResult =
  | AttemptSuccess
  | AttemptFailure
  /** An effect must be decided first; the body was abandoned. */
  | { readonly kind: 'asks'; readonly ask: Ask }
  /** The body was not started: it may have run before the database was restored, so a person must decide. */
  | { readonly kind: 'presumed' }
  /** The body was asked to stop and ended without a result: neither success nor failure. */
  | { readonly kind: 'unfinished' };

/** The part of a step that an attempt needs; `body` may also be the step's compensation. */
export type Attempted = Pick<
  BodyStep,
  'id' | 'body' | 'timeoutMs' | 'heartbeatTimeoutMs' | 'output' | 'idempotent' | 'poll'
>;

interface BodyCall {
  readonly step: Attempted;
  readonly context: Context;
  /** Aborted by the dispatch to stop the body, and by this function on a timeout. */
  readonly abort: AbortController;
  readonly clock: Clock;
  /** Removes secrets from the error, or from the reason of a degraded output; absent: there are none. */
  readonly mask?: Mask | undefined;
  /** Receives `beat`, which is called at each heartbeat of the body. */
  readonly onBeat?: (beat: () => void) => void;
  /** Resolves when the body cannot continue before a decision. Absent: it makes no calls. */
  readonly decisionNeeded?: Promise<Ask> | undefined;
}

/** Never rejects. A body that ignores its timeout is abandoned, and its later actions are not recorded. */
export async function callBody(params: BodyCall): Promise<AttemptResult> {
  const { step, abort, clock } = params;
  const { timeoutMs, heartbeatTimeoutMs } = step;
  const timeout = Promise.withResolvers<AttemptResult>();
  const stop = (why: string, limitMs: number) => {
    if (abort.signal.aborted) return;
    abort.abort(new StepAborted('timeout'));
    timeout.resolve(timedOut(step, `${why} ${durationText(limitMs)}`));
  };
  const cancelTimer = clock.timer(timeoutMs, () => stop('did not end within', timeoutMs));
  let cancelBeat = () => {};
  if (heartbeatTimeoutMs !== undefined) {
    const beat = () => {
      cancelBeat();
      cancelBeat = clock.timer(heartbeatTimeoutMs, () => stop('sent no heartbeat for', heartbeatTimeoutMs));
    };
    beat();
    params.onBeat?.(beat);
  }
  const asks = params.decisionNeeded?.then((ask): AttemptResult => {
    if (abort.signal.aborted) return { kind: 'unfinished' };
    abort.abort(new StepAborted('asked'));
    return { kind: 'asks', ask };
  });
  try {
    const ends = [resultOf(params), timeout.promise];
    return await Promise.race(asks ? [...ends, asks] : ends);
  } finally {
    cancelTimer();
    cancelBeat();
  }
}

async function resultOf({ step, context, abort, mask }: BodyCall): Promise<AttemptResult> {
  try {
    return success(step, await step.body(context), mask);
  } catch (thrown) {
    if (abort.signal.aborted) return { kind: 'unfinished' };
    const cause = readableThrown(thrown);
    const failed = failure(step.id, cause, mask);
    return step.poll && cause instanceof RetryAt ? { ...failed, polled: cause } : failed;
  }
}

/** @throws Fatal for a value that cannot be recorded or that the schema refuses; CairnError PAYLOAD_TOO_LARGE */
export function success(
  step: { readonly id: string; readonly output?: ZodType | undefined },
  returned: unknown,
  mask: Mask | undefined = String,
): AttemptSuccess {
  const value = isDegraded(returned) ? returned.value : returned;
  const output = outputOf(checked(step, value), `output of step '${step.id}'`);
  return { kind: 'succeeded', output, ...(isDegraded(returned) && { degraded: mask(returned.reason) }) };
}

/** @param cause readable (core/thrown.ts) */
export function failure(stepId: string, cause: unknown, mask: Mask | undefined): AttemptFailure {
  // Cairn's own errors about a value are final like `Fatal`, because the same code would return the same value again.
  const isFinal = cause instanceof CairnError && cause.httpStatus < 500;
  const error = recordedError(stepId, cause, mask);
  return { kind: 'failed', cause: isFinal ? new Fatal(cause.message, { cause }) : cause, error };
}

function timedOut(step: Attempted, what: string): AttemptResult {
  const message = `step '${step.id}' ${what}`;
  // The actions of an abandoned body are unknown, so only an idempotent one is retried.
  const cause = step.idempotent ? new Error(message) : new Fatal(message);
  return {
    kind: 'failed',
    cause,
    error: { code: 'STEP_TIMEOUT', message, stepId: step.id, retryable: step.idempotent },
  };
}
