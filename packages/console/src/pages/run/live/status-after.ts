/** Status of a run after further events. Follows the fold of the journal (`packages/cairn/src/core/run/reduce`), which decides. Pure. */
import { isFinal } from '../../../parts/run-status.ts';
import { known, type RunEvent } from './events.ts';

interface StatusState {
  readonly status: string;
  /** The run was importing steps when it last ran, and continues that after an interruption. */
  readonly replaying: boolean;
}

/** The state before the first event of a journal. */
export const UNBEGUN: StatusState = { status: 'pending', replaying: false };

export function statusAfter(before: StatusState, anyEvent: RunEvent): StatusState {
  const event = known(anyEvent);
  const { status, replaying } = before;
  switch (event.type) {
    case 'run_started':
      return { status: 'running', replaying };
    case 'run_suspended':
      return { status: event.data.status, replaying };
    case 'run_resumed':
      if (isFinal(status)) return before;
      return { status: status === 'interrupted' && replaying ? 'replaying' : 'running', replaying };
    case 'orphan_detected':
      // A run can lose its dispatch between claim and start. Such a run stays pending.
      return status === 'pending' ? before : { status: 'interrupted', replaying };
    case 'replay_started':
      return { status: 'replaying', replaying: true };
    case 'replay_finished':
      return { status: 'running', replaying: false };
    case 'run_completed':
      return { status: 'completed', replaying };
    case 'run_failed':
      return { status: 'failed', replaying };
    case 'run_cancelled':
      return { status: 'cancelled', replaying };
    default:
      return before;
  }
}
