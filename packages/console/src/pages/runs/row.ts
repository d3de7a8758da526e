/**
 * A run as a row of the list: the shown members of a summary, truncated, so that ten thousand rows fit in
 * memory. Pure.
 */
import { failuresText, firstWait, questionText, stepKey, waitLine } from '@cairn/client';
import type { ItemOf } from '../../api/client.ts';
import type { CostView } from '../../parts/cost-text.ts';
import { isFinal } from '../../parts/run-status.ts';

export type RunSummary = ItemOf<'/v1/runs'>;

export interface RunRow {
  readonly id: string;
  readonly status: string;
  readonly type: string;
  readonly planVersion: number;
  readonly threadId: string;
  readonly repoId?: string | undefined;
  readonly prId?: string | undefined;
  /** Only http or https, because it becomes a link. */
  readonly prUrl?: string | undefined;
  readonly tags: readonly string[];
  readonly source: string;
  readonly actor?: string | undefined;
  readonly createdAt: string;
  readonly startedAt?: string | undefined;
  readonly durationMs?: number | undefined;
  /** Steps that have ended, and neither failed nor were skipped. */
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly begun: number;
  readonly cost?: CostView | undefined;
  /** Current step, or the reason why the run does not continue. */
  readonly now: string;
  /** Open questions that operators approve or reject. */
  readonly questions: readonly RowQuestion[];
  /** Undoing, being cancelled. */
  readonly mark?: string | undefined;
  /** The last dispatch failed, and the run backs off until the next one. */
  readonly isResting?: boolean | undefined;
  /** Set for a failed run: the name that {@link causeName} makes. */
  readonly cause?: string | undefined;
  /** Started by another run. */
  readonly isChild: boolean;
  /** Set for a successor. */
  readonly madeBy?: string | undefined;
}

interface RowQuestion {
  readonly waitId: string;
  readonly text: string;
}

/** More characters than a row can show. A question may be 16 KB long. */
const MAX_CHARS = 200;

export function rowOf(run: RunSummary): RunRow {
  const { steps, trigger } = run;
  return {
    id: run.id,
    status: run.status,
    type: run.type,
    planVersion: run.planVersion,
    threadId: run.threadId,
    repoId: run.repoId,
    prId: run.prId,
    prUrl: webAddress(run.prUrl),
    tags: run.tags ?? [],
    source: trigger.source,
    actor: trigger.userId,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    durationMs: run.durationMs,
    done: steps ? doneOf(steps) : 0,
    skipped: steps?.skipped ?? 0,
    failed: steps?.failed ?? 0,
    begun: steps?.begun ?? 0,
    cost: run.cost,
    now: cut(nowOf(run)),
    questions: run.waits
      .filter(isQuestion)
      .map(({ id, detail }) => ({ waitId: id, text: cut(questionText(detail)) })),
    mark: markOf(run),
    isResting: run.failures !== undefined && !isFinal(run.status) ? true : undefined,
    cause: run.status === 'failed' ? causeOf(run.error) : undefined,
    isChild: run.parent !== undefined,
    madeBy: run.source?.mode,
  };
}

function doneOf({
  begun,
  running,
  retrying,
  waiting,
  again = 0,
  skipped,
  failed,
}: NonNullable<RunSummary['steps']>): number {
  return begun - running - retrying - waiting - again - skipped - failed;
}

/** The name of a cause, such as `STEP_FAILED:charge`, by which the statistics group failures. */
export function causeName({
  code,
  step = '',
}: {
  readonly code: string;
  readonly step?: string | undefined;
}): string {
  return `${code}:${step}`;
}

/** Leaves out the item of a step, because the items of a map fail for the same cause. */
function causeOf(error: RunSummary['error']): string {
  return causeName({ code: error?.code ?? 'UNKNOWN', step: error?.stepId?.replace(/\[.*$/, '') });
}

/** Newest first, as the API lists them. */
export function byAge(a: RunRow, b: RunRow): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  return a.id === b.id ? 0 : a.id > b.id ? -1 : 1;
}

function markOf(run: RunSummary): string | undefined {
  const { status, stopKind, compensating, cancellation, suspension, steps, waitsFor, blocked } = run;
  if (status === 'cancelled' && stopKind === 'halt') return 'halted';
  if (isFinal(status)) return undefined;
  if (compensating) return 'undoing';
  if (cancellation) return 'being cancelled';
  if (suspension) return 'suspended';
  if (blocked) return 'blocked';
  if (waitsFor === 'awaiting_approval' && waitsFor !== status) return 'also asks a person';
  return status === 'running' && steps && steps.retrying > 0 ? 'retrying a step' : undefined;
}

/** Error, reason of the cancellation, wait, or current steps. */
function nowOf(run: RunSummary): string {
  const { error, cancellation, parked, status, blocked } = run;
  if (status === 'completed') return '';
  if (status === 'cancelled' || (cancellation && !error)) return cancellationText(cancellation);
  if (error) return [error.stepId, codeOf(error), error.message].filter(Boolean).join(': ');
  if (blocked) return BLOCKED[blocked.code];
  if (parked !== undefined) return parked;
  const wait = firstWait(run.waits);
  if (wait) {
    const more = run.waitCount > 1 ? ` · ${run.waitCount - 1} more` : '';
    return `${listedWait(wait)}${more}`;
  }
  if (status === 'pending') return QUEUED;
  const { running, runningCount, failures } = run;
  if (failures && (running.length === 0 || status === 'interrupted')) return failuresText(failures);
  if (status === 'interrupted') return 'the worker died; resumes within a minute';
  if (running.length === 0) return run.currentStep ?? '';
  const more = runningCount - running.length;
  return `${running.map(({ step }) => step).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const QUEUED = 'queued';

/** The text of the row, with the reason why a queued run is not dispatched. */
export function nowText({ status, now }: Pick<RunRow, 'status' | 'now'>, stop: string | undefined): string {
  return status === 'pending' && now === QUEUED && stop !== undefined ? `${QUEUED} · ${stop}` : now;
}

/** The text of a wait. For an approval, only the question, because the status already says that it is awaited. */
function listedWait(wait: RunSummary['waits'][number]): string {
  return isQuestion(wait) ? `${stepKey(wait.execution)}: ${questionText(wait.detail)}` : waitLine(wait);
}

function isQuestion({ kind, purpose, detail }: RunSummary['waits'][number]): boolean {
  return kind === 'approval' && purpose === undefined && detail !== undefined;
}

const BLOCKED: Readonly<Record<NonNullable<RunSummary['blocked']>['code'], string>> = {
  PLAN_VERSION_UNAVAILABLE: 'the version is not deployed',
  PLAN_CHANGED: 'the definition of the version has changed',
  DISPATCH_DUE: 'continues at the next check',
};

/** Returns the code of an error, or an empty text if it adds nothing to the name of the step. */
function codeOf({ code, stepId }: NonNullable<RunSummary['error']>): string {
  // The message of a failed child begins with the code of its cause.
  return (code === 'STEP_FAILED' || code === 'CHILD_FAILED') && stepId !== undefined ? '' : code;
}

function cancellationText(cancellation: RunSummary['cancellation']): string {
  const { reason, actor } = cancellation ?? {};
  return [reason, actor && `by ${actor}`].filter((part) => part !== undefined && part !== '').join(' · ');
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`;
}

/** Undefined for other schemes, which must not become links. */
function webAddress(text: string | undefined): string | undefined {
  return text !== undefined && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined;
}
