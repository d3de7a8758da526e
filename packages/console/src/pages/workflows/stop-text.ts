/** Texts about what operators stopped, for forms that start runs and for rows of queued runs. Pure. */
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

/** The different reasons of the workflows. The kill switch is one reason for all of them. */
export function stopTexts(state: StopState, types: readonly string[]): readonly string[] {
  const texts = types.map((type) => stopText(state, type)).filter((text) => text !== undefined);
  return [...new Set(texts)];
}

/** The reason why queued runs of the workflow wait, in a word or two; undefined if only for a worker. */
export function stopWord({ killSwitch, restored, items }: StopState, type: string): string | undefined {
  if (killSwitch) return 'kill switch is on';
  if (restored) return 'database restored';
  return items.some((one) => one.type === type && one.paused) ? 'paused' : undefined;
}
