/** What operators stopped, said before a run is started. Pure. */
import { explainStop } from '@cairn/client';
import type { Answer } from '../../api/client.ts';

interface StopState extends Pick<Answer<'WorkflowList'>, 'killSwitch' | 'restored'> {
  readonly items: readonly Pick<Answer<'WorkflowList'>['items'][number], 'type' | 'paused'>[];
}

/** Why a new run of the workflow would wait; undefined if it would not. The order is that of a run's own sentence. */
export function stopText({ killSwitch, restored, items }: StopState, type: string): string | undefined {
  const paused = items.find((one) => one.type === type)?.paused;
  const stop = killSwitch
    ? explainStop({ by: 'kill_switch' })
    : restored
      ? explainStop({ by: 'restored' })
      : paused && explainStop({ by: 'paused', type, ...paused });
  return stop ? `${stop.text} A new run is accepted and waits.` : undefined;
}
