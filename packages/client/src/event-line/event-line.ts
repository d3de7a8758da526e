/** Each event of a run as a line of text, for a terminal or a page. Pure. */
import type { EventType } from 'cairn/journal-events';
import type { RunEventView } from '../follow.ts';
import { EFFECT_LINES } from './effect-lines.ts';
import { type EventContext, type EventLine, type EventLines, line, valueText } from './line.ts';
import { RUN_LINES } from './run-lines.ts';
import { STEP_LINES } from './step-lines.ts';

/** The compiler rejects a type of event without a line. */
const LINES: EventLines = { ...RUN_LINES, ...STEP_LINES, ...EFFECT_LINES };

type DescribedEvent = Pick<RunEventView, 'type' | 'data' | 'at' | 'actor'>;
type TimeFormats = Pick<EventContext, 'duration' | 'moment'>;

/** The line of an event. A type that is newer than this program is shown with its data. */
export function eventLine({ type, data, at, actor }: DescribedEvent, formats: TimeFormats): EventLine {
  if (!Object.hasOwn(LINES, type)) return line('•', 'plain', type, valueText(data));
  const describe = LINES[type as EventType] as (data: unknown, context: EventContext) => EventLine;
  return describe(data, { at, actor, ...formats });
}

/** True if the text of the line does not begin with the name of a step, so that it may be capitalised. */
export function isOfWholeRun({ type }: Pick<RunEventView, 'type'>): boolean {
  return Object.hasOwn(RUN_LINES, type);
}
