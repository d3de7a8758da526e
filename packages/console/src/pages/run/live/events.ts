/** Events and steps as the API shows them: types and type guards. */
import type { RunEvent } from '@cairn/client';
import type { DataOf } from 'cairn/api/events';
import type { EventType } from 'cairn/journal-events';
import type { Answer } from '../../../api/client.ts';

export type { DataOf, RunEvent };
export type Run = Answer<'Run'>;
export type RunGraph = Answer<'RunGraph'>;
export type GraphStepState = RunGraph['steps'][number];
export type RunGraphNode = NonNullable<RunGraph['nodes']>[number];

/** An event of a type that this console knows, with its data. Newer types are ignored. */
type KnownEvent = {
  [T in EventType]: Omit<RunEvent, 'type' | 'data'> & { readonly type: T; readonly data: DataOf<T> };
}[EventType];

/** Types an event for a `switch`, which must ignore unknown types. */
export function known(event: RunEvent): KnownEvent {
  return event as unknown as KnownEvent;
}

/** The id of the step, without the item. */
export function stepIdOf(key: string): string {
  const bracket = key.indexOf('[');
  return bracket < 0 ? key : key.slice(0, bracket);
}
