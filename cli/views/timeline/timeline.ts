/** The journal of a run as lines that a person reads: when, what, by whom. Pure. */
import type { EventType } from '../../../functions/src/core/run/events.ts';
import type { Event } from '../../api/follow.ts';
import type { Shape } from '../../context.ts';
import { offset } from '../../render/time.ts';
import { clean, cutTo } from '../../render/width.ts';
import { type Line, line, valueText } from './line.ts';
import { EFFECT_LINES } from './tell-effects.ts';
import { RUN_LINES } from './tell-runs.ts';
import { STEP_LINES, WAIT_LINES } from './tell-steps.ts';

/** One for each type of event: a type that is added and not told here does not compile. */
const LINES = { ...RUN_LINES, ...STEP_LINES, ...WAIT_LINES, ...EFFECT_LINES } satisfies Record<
  EventType,
  unknown
>;

type Tell = (data: unknown, at: string) => Line;

/** What happened. A type that is newer than this program is shown as it is. */
export function lineOf({ type, data, at }: Pick<Event, 'type' | 'data' | 'at'>): Line {
  const tell = Object.hasOwn(LINES, type) ? (LINES[type as EventType] as Tell) : undefined;
  return tell ? tell(data, at) : line('•', 'plain', type, valueText(data));
}

/** @param began when the run was made */
export function timelineLine(event: Event, began: string, { style, columns }: Shape): string {
  const { mark, tone, text, more } = lineOf(event);
  const seq = String(event.seq).padStart(5);
  const when = offset(Date.parse(event.at) - Date.parse(began));
  const who = event.actor === undefined ? '' : ` by ${clean(event.actor)}`;
  const room =
    columns === undefined ? Number.POSITIVE_INFINITY : Math.max(20, columns - seq.length - when.length - 6);
  const said = cutTo(`${clean(text)}${who}`, room);
  const left = room - said.length - 2;
  const rest =
    more === undefined || more === '' || left < 8 ? '' : `  ${style.dim(cutTo(clean(more), left))}`;
  return `${style.dim(`${seq} ${when}`)}  ${style.paint(tone, `${mark} ${said}`)}${rest}\n`;
}
