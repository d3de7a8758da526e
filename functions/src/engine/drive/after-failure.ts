/** What follows from a failed attempt: another one, and when, or the end of the step. Says so in the log. */
import { nextRetry, type RetryDecision } from '../../core/decisions/retry.ts';
import type { StepExecution } from '../../core/run/events.ts';
import type { PlainStep } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import type { AttemptResult } from './attempt.ts';

export interface FailedAttempt {
  readonly runId: string;
  readonly step: PlainStep;
  readonly execution: StepExecution;
  /** Epoch ms. */
  readonly now: number;
}

export function afterFailure(
  { random, log }: EngineDeps,
  { runId, step, execution, now }: FailedAttempt,
  { cause, error }: Extract<AttemptResult, { kind: 'failed' }>,
): RetryDecision {
  const { attempt } = execution;
  const next = nextRetry({ policy: step.retry, attempt, random: random.unit(), now, error: cause });
  const { code, message } = error;
  log.warn('step_attempt_failed', { runId, stepId: step.id, attempt, code, message, next: next.kind });
  return next;
}
