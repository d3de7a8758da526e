/** Renders the journal of a run as lines of text: time, event, actor. Pure. */
import { duration, type EventLine, eventLine, type RunEvent } from '@cairn/client';
import type { OutputShape } from '../context.ts';
import { moment, offset } from '../render/time.ts';
import { cells, clean, cutTo } from '../render/width.ts';

const GAP = 2;
/** The gap before the mark, the mark, and the blank behind it. */
const AROUND = GAP + 2;
/** Minimum width of the text of an event, cells. */
const LEAST = 12;
/** Minimum width of the dimmed rest, cells; with less room it is left out. */
const MIN_MORE = 8;

export function lineOf(event: Pick<RunEvent, 'type' | 'data' | 'at' | 'actor'>): EventLine {
  return eventLine(event, { duration, moment });
}

/** @param began when the run was made */
export function timelineLine(event: RunEvent, began: string, { style, columns }: OutputShape): string {
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
