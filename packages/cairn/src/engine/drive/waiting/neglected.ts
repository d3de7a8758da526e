/**
 * Open waits of flows that a dispatch cannot handle although one must, because no code asks for them: the code was deployed since and
 * asks later, or the flow rests before another attempt. A suspended run would be dispatched for them at once, again and again, and
 * would count as announced.
 */
import { type AnnounceAgain, againAfterMs } from '../../../core/decisions/dispatch.ts';
import { type RunState, stepKey } from '../../../core/run/state.ts';
import { needsDispatch } from '../../../core/run/wake.ts';
import type { Workflow } from '../../define/steps.ts';
import type { OpenWaits } from './open-waits.ts';

interface Resting {
  readonly state: RunState;
  /** Those that the dispatch handles. */
  readonly waits: OpenWaits;
  readonly workflow: Workflow;
  /** Epoch ms. */
  readonly now: number;
}

/**
 * When a later dispatch looks at them again: with the next attempt of the flow, or at growing intervals. An answer to another wait, after
 * which the code may ask for them, does not wait for that time.
 */
export function neglectedWaits({ state, waits, workflow, now }: Resting): AnnounceAgain | undefined {
  // Called after each message of a dispatch that rests, which usually handles all of up to some thousand waits.
  if (state.waits.length <= waits.size) return undefined;
  const times = state.waits.flatMap((wait) => {
    const { execution, openedAt, dueAt } = wait;
    const isOfFlow = execution.itemKey !== undefined && workflow.steps.get(execution.stepId)?.kind === 'flow';
    const isAskedFor = waits.of(stepKey(execution))?.id === wait.id;
    if (!isOfFlow || isAskedFor || !needsDispatch(wait, now)) return [];
    const flow = state.steps.get(execution.stepId);
    if (flow?.phase === 'retrying') return [flow.retryAt];
    const since = dueAt !== undefined && dueAt <= now ? dueAt : openedAt;
    return [now + againAfterMs(now - since)];
  });
  return times.length === 0 ? undefined : { at: Math.min(...times), missing: undefined };
}
