/** Each event as a line of this page: the words of the command line, with the formats, marks and colours of the console. Pure. */
import { type EventTone, eventLine, isOfWholeRun } from '@cairn/client';
import { duration, exactly } from '../../../parts/time.ts';
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
/** Those of the same statuses on other pages. */
const MARKS: Readonly<Record<string, string>> = { '✗': '✕', '☠': '↯', '■': '⊘', '=': '↺', '~': '≈' };

/** Said while later events of the run are not loaded. */
export function loadedText(loaded: number, head: number): string {
  return `The first ${loaded.toLocaleString('en')} of ${head.toLocaleString('en')} events are shown`;
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
