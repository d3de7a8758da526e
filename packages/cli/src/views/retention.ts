/** Retention of ended runs, as text. Pure. */
import { ago } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { statusTone } from '../render/style.ts';
import { table } from '../render/table.ts';
import { moment } from '../render/time.ts';
import { clean } from '../render/width.ts';

type Expired = Answer<'ExpiredRunPage'>['items'][number];

const WHY: Readonly<Record<NonNullable<Answer<'RunRetention'>['because']>['why'], string>> = {
  live: 'has not ended',
  owes: 'has unfinished completion duties',
  held: 'is on legal hold',
  not_due: 'has not reached its retention time',
  parent: 'is the child of a run that still exists',
  child: 'has a child that is still live',
  too_many: 'belongs to a lineage with more runs than are checked',
};

/** @param now epoch ms */
export function expiredTable(runs: readonly Expired[], now: number, shape: OutputShape): string {
  return table(
    runs,
    [
      { title: 'RUN', of: ({ runId }) => runId },
      { title: 'WORKFLOW', of: ({ type }) => type, least: 10, dropOrder: 3 },
      { title: 'STATUS', of: ({ status }) => status, tone: ({ status }) => statusTone(status), dropOrder: 2 },
      { title: 'ENDED', of: ({ completedAt }) => ago(completedAt, now), align: 'right', dropOrder: 1 },
      {
        title: 'WOULD',
        of: ({ would }) => would,
        tone: ({ would }) => (would === 'delete' ? 'warn' : 'good'),
      },
      { title: 'BECAUSE', of: (run) => becauseText(run), least: 16 },
    ],
    shape,
  );
}

/** @param now epoch ms */
export function erasuresTable(
  erasures: readonly Answer<'Erasure'>[],
  now: number,
  shape: OutputShape,
): string {
  return table(
    erasures,
    [
      { title: 'ERASURE', of: ({ id }) => id },
      { title: 'SCOPE', of: ({ scope }) => scope, dropOrder: 2 },
      {
        title: 'STATE',
        of: ({ state }) => state,
        tone: ({ state }) => (state === 'done' ? 'good' : 'warn'),
      },
      { title: 'REQUESTED', of: ({ requestedAt }) => ago(requestedAt, now), align: 'right' },
      { title: 'BY', of: ({ requestedBy }) => requestedBy ?? 'a user', least: 8, dropOrder: 3 },
      { title: 'RUNS', of: ({ gone }) => String(gone.runs), align: 'right', dropOrder: 1 },
      {
        title: 'KEPT BY',
        of: ({ keptBy }) => (keptBy ? `${keptBy.runId} ${WHY[keptBy.why]}` : ''),
        least: 10,
        dropOrder: 4,
      },
    ],
    shape,
  );
}

export function retentionText(
  retention: Answer<'RunRetention'>,
  now: number,
  { style }: OutputShape,
): string {
  const { runId, rootRunId, runs, would, expiresAt, legalHold } = retention;
  const rows: (readonly [string, string])[] = [
    ['lineage', `${rootRunId} (${runs} ${runs === 1 ? 'run' : 'runs'}); it goes as a whole`],
    [
      'by itself',
      expiresAt === undefined
        ? 'kept for ever, or not ended'
        : `${moment(expiresAt)} (${ago(expiresAt, now)})`,
    ],
    ['because', becauseText(retention)],
    ['on hold', legalHold ? `since ${moment(legalHold.at)} by ${legalHold.by}: ${legalHold.reason}` : ''],
  ];
  const facts = rows
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `  ${style.dim(name.padEnd(9))}  ${clean(text)}\n`);
  return `${style.bold(clean(runId))} ${style.paint(would === 'delete' ? 'warn' : 'good', would)}\n${facts.join('')}`;
}

function becauseText({ because }: Pick<Answer<'RunRetention'>, 'because'>): string {
  if (!because) return '';
  const until = because.until === undefined ? '' : ` until ${moment(because.until)}`;
  const related = because.relatedRunId === undefined ? '' : ` (${because.relatedRunId})`;
  return `${because.runId} ${WHY[because.why]}${until}${related}`;
}
