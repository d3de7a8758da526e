/** Explains what operators stopped, so that a run does not move. Pure. */
import type { Answer } from 'cairn/api/calls';
import type { Explanation } from './explain-run.ts';

type StoppableRun = Pick<Answer<'Run'>, 'status' | 'cancellation' | 'lease'>;
type Stop = NonNullable<Answer<'Run'>['stopped']>;

/** True for a run that is due for dispatch and has no worker: a stop affects only such runs. */
export function mayBeStopped({ status, cancellation, lease }: StoppableRun): boolean {
  const wouldMove =
    status === 'pending' || status === 'running' || status === 'replaying' || status === 'interrupted';
  return wouldMove && !lease && !cancellation;
}

const KEPT = 'Nothing is lost: starts, answers and events are accepted and wait.';

export function explainStop(stop: Stop): Explanation {
  switch (stop.by) {
    case 'kill_switch':
      return {
        text: 'The kill switch is on: no run of any tenant moves until it is off.',
        help: KEPT,
        moves: [{ words: ['unpause', '--everything'], what: 'turn the kill switch off, for all tenants' }],
      };
    case 'restored':
      return {
        text: 'The database was restored: no run of any tenant moves until it is released.',
        help: `${KEPT} Actions that may have been carried out before the restore become questions in the inbox.`,
        moves: [{ words: ['restore', 'release'], what: 'let runs continue, for all tenants' }],
      };
    case 'paused': {
      const { type, since, reason } = stop;
      return {
        text: `Workflow ${type} is paused${reason === undefined ? '' : `: ${reason}`}. Its runs wait until it is unpaused.`,
        since,
        help: KEPT,
        moves: [{ words: ['unpause', type], what: 'unpause it, for all tenants' }],
      };
    }
  }
}
