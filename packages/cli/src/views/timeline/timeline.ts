/** Renders the journal of a run as lines of text: time, event, actor. Pure. */

import type { RunEvent as Event } from '@cairn/client';
import type { EventType } from 'cairn/journal-events';
import type { OutputShape } from '../../context.ts';
import { offset } from '../../render/time.ts';
import { cells, clean, cutTo } from '../../render/width.ts';
import { EFFECT_LINES } from './effect-lines.ts';
import { line, type TimelineLine, valueText } from './line.ts';
import { RUN_LINES } from './run-lines.ts';
import { STEP_LINES, WAIT_LINES } from './step-lines.ts';

/** One for each type of event; a new type that is missing here does not compile. */
const LINES = { ...RUN_LINES, ...STEP_LINES, ...WAIT_LINES, ...EFFECT_LINES } satisfies Record<
  EventType,
  unknown
>;

const GAP = 2;
/** The gap before the mark, the mark, and the blank behind it. */
const AROUND = GAP + 2;
/** Least width of the text of an event, cells, however narrow the terminal. */
const LEAST = 12;
/** Least width of the dimmed rest, cells; with less it is left out. */
const MIN_MORE = 8;

type LineMaker = (data: unknown, at: string, actor: string | undefined) => TimelineLine;

/** The line of an event. A type that is newer than this program is shown with its data. */
export function lineOf({
  type,
  data,
  at,
  actor,
}: Pick<Event, 'type' | 'data' | 'at' | 'actor'>): TimelineLine {
  const makeLine = Object.hasOwn(LINES, type) ? (LINES[type as EventType] as LineMaker) : undefined;
  return makeLine ? makeLine(data, at, actor) : line('•', 'plain', type, valueText(data));
}

/** @param began when the run was made */
export function timelineLine(event: Event, began: string, { style, columns }: OutputShape): string {
  const { mark, tone, text, more } = lineOf(event);
  const when = `${String(event.seq).padStart(5)} ${offset(Date.parse(event.at) - Date.parse(began))}`;
  const who = event.actor === undefined ? '' : ` by ${clean(event.actor)}`;
  const room =
    columns === undefined ? Number.POSITIVE_INFINITY : Math.max(LEAST, columns - cells(when) - AROUND);
  const line = cutTo(`${clean(text)}${who}`, room);
  const left = room - cells(line) - GAP;
  const rest = more && left >= MIN_MORE ? `  ${style.dim(cutTo(clean(more), left))}` : '';
  return `${style.dim(when)}  ${style.paint(tone, `${mark} ${line}`)}${rest}\n`;
}
