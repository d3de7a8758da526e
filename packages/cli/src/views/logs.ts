/** Lines that steps logged. Pure. */
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import type { Tone } from '../render/style.ts';
import { offset } from '../render/time.ts';
import { cells, clean, cutTo } from '../render/width.ts';

const TONES: Readonly<Record<string, Tone>> = { warn: 'warn', error: 'bad' };
/** Least width of a message, cells, however narrow the terminal. */
const LEAST = 20;
/** Minimum width of the fields, cells; with less room they are left out. */
const MIN_FIELDS = 8;
const GAP = '  ';

/**
 * Time since the run began, step, message and fields on one line; further lines of the message, such as a stack, below it.
 * Truncated to the width of the terminal, but not in a pipe.
 *
 * @param began when the run was made
 */
export function logText(line: Answer<'LogLine'>, began: string, { style, columns }: OutputShape): string {
  const { level, message, fields, cut } = line;
  const tone = TONES[level] ?? 'plain';
  const word = level === 'info' ? '' : `${level} `;
  const head = headOf(line, began);
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(LEAST, columns - cells(head));
  const [first = '', ...rest] = message.split('\n').map(clean);
  const said = cutTo(`${word}${first}`, room);
  const left = room - cells(said) - GAP.length;
  const more = `${fields === undefined ? '' : JSON.stringify(fields)}${cut ? ' (cut)' : ''}`.trim();
  const shown = more !== '' && left >= MIN_FIELDS ? `${GAP}${style.dim(cutTo(clean(more), left))}` : '';
  const whole = columns ?? Number.POSITIVE_INFINITY;
  const below = rest.map((text) => `${style.dim(cutTo(`${GAP}${text}`, whole))}\n`);
  return `${style.dim(head)}${style.paint(tone, said)}${shown}\n${below.join('')}`;
}

type LoggedAt = Pick<Answer<'LogLine'>, 'at' | 'step' | 'attempt' | 'undoes'>;

/** Time since the run began, and the attempt. */
export function headOf({ at, step, attempt, undoes }: LoggedAt, began: string): string {
  const when = offset(Date.parse(at) - Date.parse(began));
  const who = `${clean(step)}${attempt > 1 ? ` #${attempt}` : ''}${undoes ? ' (undo)' : ''}`;
  return `${when}${GAP}${who}${GAP}`;
}
