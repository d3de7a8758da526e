/** Text of a form that starts a run, about what operators stopped. Pure. */
import { explainStop } from '@cairn/client';
import type { Answer } from '../../api/client.ts';

interface StopState extends Pick<Answer<'WorkflowList'>, 'killSwitch' | 'restored'> {
  readonly items: readonly Pick<Answer<'WorkflowList'>['items'][number], 'type' | 'paused'>[];
}

/** The reason why a new run of the workflow would wait; undefined if it would not. */
export function stopText({ killSwitch, restored, items }: StopState, type: string): string | undefined {
  const paused = items.find((one) => one.type === type)?.paused;
  const stop = killSwitch
    ? explainStop({ by: 'kill_switch' })
    : restored
      ? explainStop({ by: 'restored' })
      : paused && explainStop({ by: 'paused', type, ...paused });
  return stop ? `${stop.text} A new run is accepted and waits.` : undefined;
}
