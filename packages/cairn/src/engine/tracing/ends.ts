/** Ends of the spans of attempts and effect calls. */
import { LeaseLost } from '../../journal/run-journal.ts';
import type { EffectCallResult } from '../../ports/metrics.ts';
import { errorTypeOf, type Span } from '../../ports/tracing.ts';
import { type AttemptResult, StepAborted } from '../drive/bodies/call-body.ts';
import type { ActEnd } from '../effects/effect-call.ts';

/**
 * Returns the attempt. Its span ends with it, unless another process took the run over and reported the span.
 *
 * @param body its signal
 */
export async function endSpanWith<T extends AttemptResult | undefined>(
  span: Span | undefined,
  attempt: Promise<T>,
  body: AbortSignal,
): Promise<T> {
  if (!span) return attempt;
  try {
    const result = await attempt;
    span.set({ 'cairn.step.outcome': outcomeOf(result) });
    if (!isLost(body.reason)) span.end(failureCode(result));
    return result;
  } catch (error) {
    if (!isLost(body.reason) && !isLost(error)) span.end(errorTypeOf(error));
    throw error;
  }
}

function isLost(reason: unknown): boolean {
  return reason instanceof LeaseLost || (reason instanceof StepAborted && reason.why === 'lease_lost');
}

/** Outcome of an attempt; undefined if it was stopped before its body began. */
function outcomeOf(result: AttemptResult | undefined): string {
  if (result?.kind === 'succeeded' && result.degraded !== undefined) return 'degraded';
  if (result?.kind === 'failed' && result.polled) return 'polled';
  return result?.kind ?? 'unfinished';
}

/** The code of a failure. A poll whose condition does not hold yet is no failure. */
function failureCode(result: AttemptResult | undefined): string | undefined {
  return result?.kind === 'failed' && !result.polled ? result.error.code : undefined;
}

/** Outcome of an effect call, in the terms of the ledger. */
export function effectOutcome(end: ActEnd): EffectCallResult | undefined {
  switch (end.kind) {
    case 'answered':
      return end.how;
    case 'not_applied':
      return 'not_applied';
    case 'doubt':
      return 'in_doubt';
    case 'ask':
    case 'mismatch':
    case 'denied':
      return 'blocked';
    case 'stopped':
      return undefined;
  }
}
