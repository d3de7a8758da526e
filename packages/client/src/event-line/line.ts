/** One line of a timeline: an event in words, and its severity. */
import type { DataOf } from 'cairn/api/events';
import type { EventType } from 'cairn/journal-events';
import { stepKey } from '../step-key.ts';

export type EventTone = 'good' | 'bad' | 'warn' | 'wait' | 'busy' | 'dim' | 'bold' | 'plain';

export interface EventLine {
  readonly mark: string;
  readonly tone: EventTone;
  readonly text: string;
  /** Less important text, shown dimmed. */
  readonly more?: string | undefined;
}

/** Time and actor of an event, and the time formats of the reader. */
export interface EventContext {
  readonly at: string;
  readonly actor: string | undefined;
  duration(ms: number): string;
  /** A point in time, given as ISO text. */
  moment(at: string): string;
}

/** The line of each type of event, from its data. */
export type EventLines = {
  readonly [T in EventType]: (data: DataOf<T>, context: EventContext) => EventLine;
};

export const line = (mark: string, tone: EventTone, text: string, more?: string): EventLine => ({
  mark,
  tone,
  text,
  more,
});

/** Key of a step, with its attempt and revision where they are not the first. */
export function stepName({
  stepId,
  itemKey,
  revision = 1,
  attempt = 1,
}: {
  readonly stepId: string;
  readonly itemKey?: string | undefined;
  readonly revision?: number;
  readonly attempt?: number;
}): string {
  const key = stepKey({ stepId, itemKey });
  const which = [
    ...(revision > 1 ? [`revision ${revision}`] : []),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
  ];
  return which.length === 0 ? key : `${key} (${which.join(', ')})`;
}
export function errorText({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${code}: ${message.split('\n')[0] ?? ''}`;
}

/** A payload as one line. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Time from the event until something is due, and the due time itself. */
export function dueText(dueAt: string | undefined, { at, duration, moment }: EventContext): string {
  return dueAt === undefined ? '' : `until ${moment(dueAt)} (${duration(msBetween(at, dueAt))})`;
}

export function msBetween(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}

export const parts = (...texts: readonly (string | undefined | false)[]): string =>
  texts.filter((text) => text !== undefined && text !== false && text !== '').join(' · ');

/** Keys of steps, and the number of further ones. */
export function stepsOf({
  steps,
  count = steps.length,
}: {
  readonly steps: readonly string[];
  readonly count?: number | undefined;
}): string {
  return `${steps.join(', ')}${count > steps.length ? ` and ${count - steps.length} more` : ''}`;
}
