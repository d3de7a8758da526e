/** Questions that wait for a person, with the commands that answer them. Pure. */
import { ago, BUDGET_DECISIONS, DOUBT_DECISIONS } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { PLAIN_CALL } from '../invocation.ts';
import { table } from '../render/table.ts';
import { moment } from '../render/time.ts';
import { cells, clean } from '../render/width.ts';
import { findingText, quoted, section } from './run-page.ts';

type Item = Answer<'InboxPage'>['items'][number];

const KINDS: Readonly<Record<Item['kind'], string>> = {
  approval: 'approval',
  step_in_doubt: 'step in doubt',
  budget_reached: 'budget reached',
  effect_in_doubt: 'effect in doubt',
  left_in_doubt: 'left in doubt',
};

/** @param now epoch ms */
export function inboxTable(items: readonly Item[], now: number, shape: OutputShape): string {
  return table(
    items,
    [
      { title: 'SINCE', of: ({ openedAt }) => ago(openedAt, now), align: 'right' },
      { title: 'RUN', of: ({ runId }) => runId },
      { title: 'WORKFLOW', of: ({ type }) => type, least: 10, dropOrder: 3 },
      { title: 'STEP', of: ({ step }) => step, least: 8, dropOrder: 1 },
      { title: 'ASKS', of: ({ kind }) => KINDS[kind], dropOrder: 2 },
      { title: 'ASKED', of: ({ to = [] }) => to.join(', '), dropOrder: 5 },
      { title: 'UNTIL', of: ({ dueAt }) => (dueAt === undefined ? '' : moment(dueAt)), dropOrder: 4 },
      { title: 'QUESTION', of: ({ question }) => question, least: 16 },
    ],
    shape,
  );
}

/** Runs without a question that make no progress until a person fixes the cause. */
export function findingList(
  findings: NonNullable<Answer<'InboxPage'>['findings']>,
  now: number,
  shape: OutputShape,
): string {
  const lines = findings.map(
    (finding) =>
      `${clean(finding.runId)} ${clean(finding.type)}, since ${ago(finding.since, now)}\n${findingText(finding, shape)}`,
  );
  return section('Problems', lines.join(''), shape);
}

/** Effects without a run that ask a person, each with the command that answers it. */
export function externalList(
  external: NonNullable<Answer<'InboxPage'>['external']>,
  now: number,
  shape: OutputShape,
): string {
  const lines = external.map(
    ({ owner, effectId, question, openedAt, answers }) =>
      `  ${clean(question)} ${shape.style.dim(ago(openedAt, now))}\n    ${shape.call ?? PLAIN_CALL} effects resolve ${quoted(owner)} ${effectId} ${answers.join('|')}\n`,
  );
  return section('Effects without a run', lines.join(''), shape);
}

/** Shows one command for each run, because a person looks at a run before answering. Hints that do not fit go below it. */
export function answerLines(
  items: readonly Item[],
  { columns = Number.POSITIVE_INFINITY, call = PLAIN_CALL }: Partial<OutputShape> = {},
): string {
  const lines = new Set(items.map((item) => answerLine(item, call)));
  const shown = [...lines].map((line) => (cells(line) > columns ? line.replaceAll('   (', '\n  (') : line));
  return shown.length === 0 ? '' : `\n${shown.join('\n')}\n`;
}

function answerLine({ kind, runId, step, effectId, answers, more, dataSchema }: Item, call: string): string {
  const rest = more === undefined ? '' : `   (and ${more} more: ${call} runs show ${runId})`;
  if (answers.length === 0) return `${call} runs show ${runId}   (nothing can be answered now)${rest}`;
  if (kind === 'effect_in_doubt' || kind === 'left_in_doubt') {
    const choices = answers.filter((answer) => answer !== 'resume').join('|');
    const orResume = answers.includes('resume') ? `   (or ${call} runs resume ${runId})` : '';
    return `${call} effects resolve ${runId} ${effectId} ${choices}${orResume}${rest}`;
  }
  if (kind === 'step_in_doubt')
    return `${call} runs approve ${runId} ${quoted(step)}   (${DOUBT_DECISIONS})${rest}`;
  if (kind === 'budget_reached')
    return `${call} runs approve ${runId} ${quoted(step)}   (${BUDGET_DECISIONS})${rest}`;
  const others = answers.filter((answer) => answer !== 'approve').map((answer) => WORDS[answer] ?? answer);
  const data = dataSchema === undefined ? '' : ' --data JSON';
  return `${call} runs approve ${runId} ${quoted(step)}${data}   (or ${others.join(', ')})${rest}`;
}

/** Decisions as commands. */
const WORDS: Readonly<Partial<Record<Item['answers'][number], string>>> = {
  approve_with_waiver: 'waive',
  retry_with_feedback: 'send-back',
};
