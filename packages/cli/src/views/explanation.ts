/** The explanation of a run for a terminal. Pure. */

import { ago, type CodePlace, type Explanation, questionText } from '@cairn/client';
import type { OutputShape } from '../context.ts';
import { asCalled, PLAIN_CALL } from '../invocation.ts';
import { statusTone } from '../render/style.ts';
import { table } from '../render/table.ts';
import { moment } from '../render/time.ts';
import { clean, wrap } from '../render/width.ts';
import { commandOf, findingText, type RunView, section } from './run-page.ts';
import { statusText } from './runs.ts';
import { stackText } from './stack.ts';

/** Questions that are printed; `runs show` has the others. */
const MAX_QUESTIONS = 3;
/** Characters of the details of a question. */
const MAX_DETAILS = 1_000;
/** Without a terminal. */
const DEFAULT_COLUMNS = 100;
const INDENT = 2;

/** @param now epoch ms */
export function explanationPage(
  run: RunView,
  { text, since, until, help, moves, code }: Explanation & { readonly code: readonly CodePlace[] },
  now: number,
  shape: OutputShape,
): string {
  const { style, columns = DEFAULT_COLUMNS, call = PLAIN_CALL } = shape;
  const status = style.paint(statusTone(run.status), statusText(run));
  const paragraph = (words: string) =>
    wrap(clean(words), Math.max(20, columns - INDENT))
      .map((line) => `  ${line}\n`)
      .join('');
  const at = (name: string, iso: string | undefined) =>
    iso === undefined ? '' : `  ${style.dim(name)}  ${moment(iso)} (${ago(iso, now)})\n`;
  const { error, finding } = run;
  return [
    `${style.bold(`${run.type} v${run.planVersion}`)} ${status}  ${style.dim(run.id)}\n\n`,
    paragraph(text),
    ...approvals(run).flatMap(({ detail }) => [
      paragraph(`“${questionText(detail)}”`),
      ...detailsOf(detail).map(paragraph),
    ]),
    error ? paragraph(`${error.code}: ${error.message}`) + stackText(error.trace, { ...shape, columns }) : '',
    at('since', since),
    at('until', until),
    help === undefined ? '' : `\n${paragraph(asCalled(help, call))}`,
    section('Code', codeTable(code, shape), shape),
    finding ? section('Problem', findingText(finding, shape), shape) : '',
    section(
      'Commands',
      moves.map((move) => `  ${commandOf(move, call)}\n    ${style.dim(move.what)}\n`).join(''),
      shape,
    ),
  ].join('');
}

/** Source locations of the open and failed operations of the run's flows. */
function codeTable(places: readonly CodePlace[], shape: OutputShape): string {
  return table(
    places,
    [
      { title: 'OPERATION', of: ({ step }) => step, least: 12 },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'ASKED FOR AT', of: ({ location }) => location },
    ],
    shape,
  );
}

function approvals({ waits }: RunView): RunView['waits'] {
  return waits.filter(({ kind }) => kind === 'approval').slice(0, MAX_QUESTIONS);
}

/** Details of the question, such as the input of an agent's tool: nobody should approve them unseen. */
function detailsOf(detail: unknown): readonly string[] {
  const { details } = Object(detail) as { readonly details?: unknown };
  if (details === undefined) return [];
  const text = typeof details === 'string' ? details : JSON.stringify(details);
  return [text.length > MAX_DETAILS ? `${text.slice(0, MAX_DETAILS)}…` : text];
}
