/** Consequence of a failed attempt: a retry and its time, or the end of the step. Logs it. */
import {
  nextPoll,
  nextRetry,
  type PollDecision,
  type RetryDecision,
  type RetryPolicy,
} from '../../../core/decisions/retry.ts';
import { optional } from '../../../core/optional.ts';
import type { StepExecution } from '../../../core/run/events.ts';
import { stepKey } from '../../../core/run/state.ts';
import { messageOf } from '../../../core/thrown.ts';
import type { BodyStep } from '../../define/steps.ts';
import type { ErrorRetry } from '../../define/types.ts';
import type { EngineDeps } from '../../deps.ts';
import type { AttemptResult } from '../bodies/call-body.ts';

interface FailedExecution {
  readonly runId: string;
  readonly step: Pick<BodyStep, 'id' | 'retry' | 'retryPerError' | 'poll'>;
  readonly execution: StepExecution;
  /** Epoch ms. */
  readonly now: number;
  /** The attempt was to compensate the step. */
  readonly undoes?: true;
}

export function afterFailure(
  { random, log, settings }: EngineDeps,
  { runId, step, execution, now, undoes }: FailedExecution,
  { cause, error, polled }: Extract<AttemptResult, { kind: 'failed' }>,
): RetryDecision | PollDecision {
  const { attempt, polls, startedAt } = execution;
  const about = undoes ? { runId, step: stepKey(execution) } : { runId, stepId: step.id };
  const { code, message, trace } = error;
  const { poll } = step;
  const next =
    poll && polled
      ? nextPoll({ poll, startedAt, now, error: polled, polls })
      : nextRetry({
          policy: policyFor(step, cause, (thrown) =>
            log.warn('retry_match_failed', { ...about, error: messageOf(thrown) }),
          ),
          attempt,
          random: random.unit(),
          now,
          error: cause,
          polls,
        });
  if (next.kind === 'poll_again') {
    log.debug('step_polled', { ...about, attempt, message, again: next.at });
    return next;
  }
  const thrown = settings.logsThrown ? { message, ...optional('stack', trace) } : {};
  const event = undoes ? 'compensation_failed' : 'step_attempt_failed';
  log.warn(event, { ...about, attempt, code, ...thrown, next: next.kind });
  return next;
}

/**
 * The retry policy of the first matching error class; otherwise the step's own.
 *
 * @param onThrow receives errors of the author's matcher; a throwing matcher does not match
 */
function policyFor(
  { retry, retryPerError }: Pick<BodyStep, 'retry' | 'retryPerError'>,
  cause: unknown,
  onThrow: (thrown: unknown) => void,
): RetryPolicy {
  const isOf = (match: ErrorRetry['match']) => {
    try {
      return matches(match, cause);
    } catch (thrown) {
      onThrow(thrown);
      return false;
    }
  };
  return retryPerError.find(({ match }) => isOf(match))?.policy ?? retry;
}

function matches(match: ErrorRetry['match'], cause: unknown): boolean {
  if (typeof match === 'string') {
    const { name, code } = Object(cause) as { name?: unknown; code?: unknown };
    return name === match || code === match;
  }
  if (isErrorClass(match)) return cause instanceof match;
  return (match as (error: unknown) => boolean)(cause) === true;
}

function isErrorClass(match: unknown): match is abstract new (...args: never[]) => Error {
  return match === Error || (match as { prototype?: unknown }).prototype instanceof Error;
}
