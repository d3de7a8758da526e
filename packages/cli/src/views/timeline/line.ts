/** One line of a timeline: the event, and its severity. */
import { duration, stepKey } from '@cairn/client';
import type { Tone } from '../../render/style.ts';
import { moment } from '../../render/time.ts';

export interface TimelineLine {
  readonly mark: string;
  readonly tone: Tone;
  readonly text: string;
  /** Less important; dimmed. */
  readonly more?: string | undefined;
}

export const line = (mark: string, tone: Tone, text: string, more?: string): TimelineLine => ({
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
export function dueText(dueAt: string | undefined, from: string): string {
  if (dueAt === undefined) return '';
  return `until ${moment(dueAt)} (${duration(Date.parse(dueAt) - Date.parse(from))})`;
}

export const parts = (...texts: readonly (string | undefined | false)[]): string =>
  texts.filter((text) => text !== undefined && text !== false && text !== '').join(' · ');

/** Keys of steps, and how many there are beside them. */
export function stepsOf({
  steps,
  count = steps.length,
}: {
  readonly steps: readonly string[];
  readonly count?: number | undefined;
}): string {
  return `${steps.join(', ')}${count > steps.length ? ` and ${count - steps.length} more` : ''}`;
}
