/** Switches of the operators that keep a run from moving: the run does not name them. Pure. */
import type { Answer } from 'cairn/api/calls';
import { declaredType } from '../declared-type.ts';
import type { Explanation } from './explain-run.ts';

type StoppableRun = Pick<Answer<'Run'>, 'status' | 'cancellation'> & Partial<Pick<Answer<'Run'>, 'lease'>>;
type ListedWorkflows = Pick<Answer<'WorkflowList'>, 'killSwitch' | 'items'>;

/** A workflow is paused, or the kill switch stops all. */
export type Stop =
  | { readonly by: 'kill_switch' }
  | {
      readonly by: 'pause';
      readonly type: string;
      /** ISO. */
      readonly since: string;
      /** Undefined: none was given, or the role may not read it. */
      readonly reason?: string | undefined;
    };

/** True for a run that would be dispatched, and that no worker has: only such a run is kept from moving. */
export function mayBeStopped({ status, cancellation, lease }: StoppableRun): boolean {
  const wouldMove =
    status === 'pending' || status === 'running' || status === 'replaying' || status === 'interrupted';
  return wouldMove && !lease && !cancellation;
}

export function stopOf({ killSwitch, items }: ListedWorkflows, runType: string): Stop | undefined {
  if (killSwitch) return { by: 'kill_switch' };
  const type = declaredType(runType);
  const paused = items.find((workflow) => workflow.type === type)?.paused;
  return paused ? { by: 'pause', type, since: paused.since, reason: paused.reason } : undefined;
}

export function explainStop(stop: Stop): Explanation {
  if (stop.by === 'kill_switch')
    return {
      text: 'The kill switch is on: no run of any tenant moves until it is off.',
      help: 'Nothing is lost: starts, answers and events are accepted and wait.',
      moves: [{ words: ['unpause', '--everything'], what: 'turn the kill switch off, for all tenants' }],
    };
  const { type, since, reason } = stop;
  return {
    text: `Workflow ${type} is paused${reason === undefined ? '' : `: ${reason}`}. Its runs wait until it is unpaused.`,
    since,
    help: 'Nothing is lost: starts, answers and events are accepted and wait.',
    moves: [{ words: ['unpause', type], what: 'unpause it, for all tenants' }],
  };
}
