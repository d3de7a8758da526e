/** The stack of a step's error, limited to frames of the user's code. Pure. */
import type { OutputShape } from '../context.ts';
import { cells, clean, wrap } from '../render/width.ts';

/** Frames that are shown: the call that failed and its callers. */
const MAX_FRAMES = 5;
const INDENT = 6;
const FRAME = /^\s*at /;
const CAUSE = /^caused by: /;
/** Causes that are shown. */
const MAX_CAUSES = 3;
/** Columns of the head of a run before a value. */
const VALUE_AT = 14;
const NOT_OWN = /node:|\/node_modules\/|\/packages\/cairn\//;

interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly trace?: string | undefined;
}

/** @returns the whole message with the stack; empty if the head of the run already shows it all */
export function errorDetails(error: ShownError, shape: OutputShape): string {
  const { columns = Number.POSITIVE_INFINITY } = shape;
  const text = clean(`${error.code}: ${error.message}`);
  const stack = stackText(error.trace, shape);
  if (stack === '' && cells(text) + VALUE_AT <= columns) return '';
  const lines = wrap(text, Math.max(20, columns - 2)).map((line) => `  ${line}\n`);
  return lines.join('') + stack;
}

/** @returns a line for each cause, then for each frame; empty without a cause or a frame of the user's code */
export function stackText(
  trace: string | undefined,
  { style, columns = Number.POSITIVE_INFINITY }: OutputShape,
): string {
  const lines = (trace ?? '').split('\n');
  const frames = lines.filter((line) => FRAME.test(line) && !NOT_OWN.test(line));
  const causes = lines.filter((line) => CAUSE.test(line));
  const most = Math.max(20, columns - INDENT);
  return [
    ...causes.slice(0, MAX_CAUSES).flatMap((cause) => wrap(clean(cause), most)),
    ...frames.slice(0, MAX_FRAMES).map((frame) => fitted(clean(frame.trim()), most)),
  ]
    .map((line) => `${' '.repeat(INDENT)}${style.dim(line)}\n`)
    .join('');
}

/** Truncates a long path at the beginning, because its end names the file and line. */
function fitted(frame: string, most: number): string {
  const short = frame.replace('file://', '');
  if (cells(short) <= most) return short;
  const [, head = 'at ', path = short] = /^(at (?:.*\()?)(.*)$/.exec(short) ?? [];
  const room = Math.max(1, most - cells(head) - 1);
  return `${head}…${path.slice(-room)}`;
}
