/**
 * The events that end runs. No other file writes a terminal event; core/decisions/ending.ts decides whether and how a run ends.
 * Every unsuccessful end has a reason.
 */
import { MAX_SHOWN } from '../../core/run/bounded.ts';
import type { EventDraft, RecordedError } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import { storedValueOf } from '../../core/run/values.ts';
import { carried } from './event-builders.ts';
import type { Output } from './output.ts';

export function completed(state: RunState, result: Output): EventDraft {
  const value = storedValueOf(result.text, state.head + 1);
  return {
    type: 'run_completed',
    initiator: 'system',
    // The journal has the hash of a value stored elsewhere, as for outputs of steps.
    data: { result: value, resultHash: 'text' in value ? undefined : result.hash, ...unreadCount(state) },
    ...carried(result),
  };
}

export function runFailed(error: RecordedError): EventDraft {
  return { type: 'run_failed', initiator: 'system', data: { error } };
}

/**
 * @param cancellation actor and reason: those of the run, or of the request that ends it
 * @param notUndone keys of the steps whose compensations are due
 */
export function runCancelled(
  state: RunState,
  cancellation: Omit<NonNullable<RunState['cancellation']>, 'requestedAt'> | undefined,
  notUndone: readonly string[],
): EventDraft<'run_cancelled'> {
  return {
    type: 'run_cancelled',
    initiator: cancellation?.stopKind === 'policy' ? 'policy' : cancellation?.actor ? 'user' : 'system',
    actor: cancellation?.actor,
    data: {
      stopKind: cancellation?.stopKind ?? 'system',
      reason: cancellation?.reason,
      ...unreadCount(state),
      notUndone: notUndone.length > 0 ? named(notUndone) : undefined,
    },
  };
}

function named(steps: readonly string[]) {
  return { steps: steps.slice(0, MAX_SHOWN), count: steps.length > MAX_SHOWN ? steps.length : undefined };
}

function unreadCount({ unread }: RunState): { unread?: number } {
  return unread.length === 0 ? {} : { unread: unread.length };
}
