/** Events as lines of text: the words of the command line with the formats, marks and colours of the console. Pure. */
import { type EventTone, eventLine, isOfWholeRun } from '@cairn/client';
import { duration, exactly, type TimedRun } from '../../../parts/time.ts';
import type { RunEvent } from '../live/events.ts';

interface Line {
  readonly mark: string;
  readonly tone: string;
  readonly text: string;
  readonly more?: string | undefined;
}

const CLASSES: Readonly<Partial<Record<EventTone, string>>> = {
  dim: 'quiet',
  busy: 'live',
  bold: '',
  plain: '',
};
/** Replaces marks of the command line by those that other pages use for the same status. */
const MARKS: Readonly<Record<string, string>> = { '✗': '✕', '☠': '↯', '■': '⊘', '=': '↺', '~': '≈' };

/** Text shown while later events of the run are not loaded. */
export function loadedText(loaded: number, head: number): string {
  return `The first ${loaded.toLocaleString('en')} of ${head.toLocaleString('en')} events are shown`;
}

/** The origin of the times of the events. The duration of the run counts from its start instead. */
export function originText({ createdAt, startedAt }: Pick<TimedRun, 'createdAt' | 'startedAt'>): string {
  const queuedMs = startedAt === undefined ? 0 : Date.parse(startedAt) - Date.parse(createdAt);
  return `times since creation${queuedMs > 0 ? `, ${duration(queuedMs)} before the start` : ''}`;
}

export function lineOf(event: RunEvent): Line {
  const { mark, tone, text, more } = eventLine(event, { duration, moment: exactly });
  return {
    mark: MARKS[mark] ?? mark,
    tone: CLASSES[tone] ?? tone,
    text: isOfWholeRun(event) ? `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` : text,
    more: more === '' ? undefined : more,
  };
}
