/**
 * The budget of a program: what its runs may append and hold for their progress. A run that spins repeats the same events
 * without any progress between them. The limit of turns of a trial detects this late, or never if the run spins slowly.
 */
import type { EventType, RunEvent } from '../../packages/cairn/src/core/run/events.ts';

/**
 * Events that are progress: something ended, was opened, answered, allowed by a policy, or interrupted from outside. The policy
 * of a step limits its retries, which {@link assertLively} checks separately.
 */
const PROGRESS: ReadonlySet<EventType> = new Set<EventType>([
  'run_created',
  'run_started',
  'step_succeeded',
  'step_degraded',
  'step_skipped',
  'step_reused',
  'step_failed',
  'effect_settled',
  'wait_opened',
  'wait_resolved',
  'wait_expired',
  'signal_received',
  'feedback_given',
  'cancel_requested',
  'orphan_detected',
  'step_compensated',
  'compensation_failed',
  'run_completed',
  'run_failed',
  'run_cancelled',
  'run_superseded',
]);

/**
 * Events without progress for each one with progress: a claim, a start, a policy, a suspension, a release, a resumption, and a
 * reserve for many releases.
 */
const EVENTS_PER_PROGRESS = 12;
/** Attempts of a step and revision: no policy of these programs allows more, and each interruption may add one. */
const ATTEMPTS = 4;

/** @throws Error if the run has appended more than its progress allows */
export function assertLively(events: readonly RunEvent[]): void {
  const progress = events.filter(({ type }) => PROGRESS.has(type)).length;
  const interruptions = events.filter(
    ({ type }) => type === 'orphan_detected' || type === 'run_released',
  ).length;
  const retries = new Map<string, number>();
  for (const { type, data } of events) {
    if (type !== 'step_retry_scheduled') continue;
    const { stepId, itemKey, revision, polls = 0 } = data as RunEvent<'step_retry_scheduled'>['data'];
    const execution = `${stepId}[${itemKey ?? ''}] #${revision}`;
    const times = (retries.get(execution) ?? 0) + 1;
    retries.set(execution, times);
    // Attempts that polled are counted separately.
    if (times > ATTEMPTS + polls + interruptions)
      throw new Error(
        `spins: '${execution}' was tried again ${times} times, with ${interruptions} interruptions`,
      );
  }
  const retried = [...retries.values()].reduce((sum, times) => sum + times, 0);
  const most = EVENTS_PER_PROGRESS * (progress + retried);
  if (events.length > most)
    throw new Error(
      `spins: ${events.length} events for a progress of ${progress} and ${retried} retries, ${most} at the most`,
    );
}
