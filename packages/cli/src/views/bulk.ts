/** Runs that a bulk change selects, and their outcomes. Pure. */
import { ago } from '@cairn/client';
import type { OutputShape } from '../context.ts';
import { statusTone } from '../render/style.ts';
import { table } from '../render/table.ts';
import { clean } from '../render/width.ts';

/** A run to be changed; for `approve`, one of its questions. */
export interface ListedTarget {
  readonly runId: string;
  readonly type: string;
  readonly status: string;
  readonly at: string;
  readonly step?: string | undefined;
  readonly waitId?: string | undefined;
}

export interface BulkReport {
  readonly action: string;
  readonly matched: number;
  /** More match than the limit allows. */
  readonly more: boolean;
  readonly done: readonly { readonly runId: string; readonly result: string }[];
  readonly refused: readonly { readonly runId: string; readonly code: string; readonly detail: string }[];
  /** Not sent, because the command was interrupted. */
  readonly unsent: number;
}

interface ListedTargets {
  readonly action: string;
  readonly items: readonly ListedTarget[];
  readonly more: boolean;
}

/** Ids named for each reason of a refusal; `--json` has all. */
const MAX_NAMED = 5;

/** @param now epoch ms */
export function targetTable({ action, items, more }: ListedTargets, now: number, shape: OutputShape): string {
  if (items.length === 0) return `Nothing matches: nothing to ${action}.\n`;
  const rows = table(
    items,
    [
      { title: 'RUN', of: ({ runId }) => runId },
      { title: 'WORKFLOW', of: ({ type }) => type, least: 12, dropOrder: 3 },
      { title: 'STATUS', of: ({ status }) => status, tone: ({ status }) => statusTone(status), dropOrder: 2 },
      { title: 'STEP', of: ({ step = '' }) => step, dropOrder: 1 },
      { title: 'SINCE', of: ({ at }) => ago(at, now), align: 'right', dropOrder: 4 },
    ],
    shape,
  );
  return more ? `${rows}${shape.style.dim('More match: --limit N')}\n` : rows;
}

export function bulkText(
  { action, matched, more, done, refused, unsent }: BulkReport,
  { style }: OutputShape,
): string {
  const codes = [...Map.groupBy(refused, ({ code }) => code)];
  return [
    `${action}: ${done.length} of ${matched} done`,
    ...codes.map(([code, runs]) => {
      const named = runs.slice(0, MAX_NAMED).map(({ runId }) => clean(runId));
      const others = runs.length > named.length ? ` and ${runs.length - named.length} more` : '';
      const reason = clean(runs[0]?.detail ?? '');
      return `  ${style.paint('bad', code)} (${runs.length}): ${reason}\n    ${named.join(' ')}${others}`;
    }),
    ...(unsent > 0 ? [`  interrupted: ${unsent} not sent`] : []),
    ...(more ? [style.dim('  More match: run the command again.')] : []),
    '',
  ].join('\n');
}
