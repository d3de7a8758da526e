/** The events that make a checkpoint, whose number is the seq of the event. Mirrors `packages/cairn/src/core/run/records.ts`. Pure. */
import { stepKey } from '@cairn/client';
import { known, type RunEvent } from '../live/events.ts';

/** Description of the checkpoint that an event makes; undefined: none. A large input makes one more. */
export function checkpointWords(anyEvent: RunEvent): string | undefined {
  const event = known(anyEvent);
  switch (event.type) {
    case 'run_started':
      return 'the run started';
    case 'run_suspended':
      return event.data.status.replaceAll('_', ' ');
    case 'step_succeeded':
    case 'step_degraded':
    case 'step_skipped':
    case 'step_reused':
      return `${stepKey(event.data)} ${event.type.slice('step_'.length)}`;
    case 'run_completed':
    case 'run_failed':
    case 'run_cancelled':
      return `the run ${event.type.slice('run_'.length)}`;
    default:
      return undefined;
  }
}
