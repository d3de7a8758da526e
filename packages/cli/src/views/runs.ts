/** Runs in a list. Pure. */
import { ago, duration, firstWait, soFar } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { statusTone } from '../render/style.ts';
import { type Column, table } from '../render/table.ts';

export type RunListItem = Answer<'RunSummary'>;

/** @param now epoch ms */
export function runTable(runs: readonly RunListItem[], now: number, shape: OutputShape): string {
  return table(runs, runColumns(now), shape);
}

/**
 * Runs that a search found, each with the matched name.
 *
 * @param now epoch ms
 */
export function foundTable(found: Answer<'FoundRuns'>['items'], now: number, shape: OutputShape): string {
  const columns: readonly Column<(typeof found)[number]>[] = [
    { title: 'BY', of: ({ by }) => by.replaceAll('_', ' ') },
    ...runColumns(now).map(({ of, tone, ...column }) => ({
      ...column,
      of: ({ run }: (typeof found)[number]) => of(run),
      tone: tone && (({ run }: (typeof found)[number]) => tone(run)),
    })),
  ];
  return table(found, columns, shape);
}

function runColumns(now: number): readonly Column<RunListItem>[] {
  return [
    { title: 'RUN', of: ({ id }) => id },
    { title: 'WORKFLOW', of: ({ type, planVersion }) => `${type} v${planVersion}`, least: 12, dropOrder: 1 },
    { title: 'STATUS', of: statusText, tone: ({ status }) => statusTone(status) },
    { title: 'STEPS', of: stepsText, align: 'right', dropOrder: 5 },
    { title: 'CREATED', of: ({ createdAt }) => ago(createdAt, now), align: 'right', dropOrder: 2 },
    { title: 'TOOK', of: (run) => tookText(run, now), align: 'right', dropOrder: 4 },
    { title: 'ABOUT', of: aboutText, least: 12, dropOrder: 3 },
  ];
}

/** A run that a person stopped at a question is shown as `halted`. */
export function statusText(run: RunListItem): string {
  const { status, stopKind, compensating, cancellation, suspension, waitsFor, blocked } = run;
  if (status === 'cancelled' && stopKind === 'halt') return 'cancelled (halt)';
  if (compensating && !isOver(status)) return `${status} (undoing)`;
  if (cancellation && !isOver(status)) return `${status} (cancelling)`;
  if (suspension && !isOver(status)) return `${status} (suspended)`;
  if (blocked) return `${status} (blocked)`;
  // A filter by that status finds the run too.
  return waitsFor === undefined || waitsFor === status ? status : `${status}, ${waitsFor}`;
}

export function isOver(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** No total: the run does not know how many steps will follow. */
function stepsText({ steps }: RunListItem): string {
  if (!steps || steps.begun === 0) return '';
  const { begun, running, retrying, waiting, again = 0, skipped, failed } = steps;
  return `${begun - running - retrying - waiting - again - skipped - failed} done`;
}

function tookText({ status, durationMs, startedAt, createdAt }: RunListItem, now: number): string {
  if (durationMs !== undefined) return duration(durationMs);
  return isOver(status) ? '' : soFar(startedAt ?? createdAt, now);
}

/** Subjects of questions that the engine asks. */
const PURPOSES: Readonly<Record<NonNullable<RunListItem['waits'][number]['purpose']>, string>> = {
  doubt: 'step in doubt',
  effect: 'side effect',
  budget: 'budget',
};

/** The error, wait, step, failed dispatches or subject of the run, whichever comes first. */
function aboutText(run: RunListItem): string {
  const { error, parked, waits, running, runningCount, failures, prId, repoId, threadId, id } = run;
  if (error) return `${error.code}${error.stepId === undefined ? '' : ` in ${error.stepId}`}`;
  if (run.blocked) return run.blocked.code;
  if (parked !== undefined) return parked;
  const wait = firstWait(waits);
  if (wait) return `${wait.execution.stepId} (${wait.purpose ? PURPOSES[wait.purpose] : wait.kind})`;
  const [body] = running;
  if (body) return `at ${body.step}${runningCount > 1 ? ` and ${runningCount - 1} more` : ''}`;
  if (failures) return `${failures.times} ${failures.times === 1 ? 'dispatch' : 'dispatches'} failed`;
  if (prId !== undefined) return `${repoId ?? ''}#${prId}`;
  return repoId ?? (threadId === id ? '' : threadId);
}
