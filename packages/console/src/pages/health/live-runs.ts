/** Live runs that need attention: suspects, and those that are overdue. Pure. */
import { isOverdue } from '@cairn/client';
import type { Answer } from '../../api/client.ts';

/** The kept part of a summary: a thousand whole summaries would take too much memory. */
export type LiveRun = Pick<Answer<'RunSummary'>, 'id' | 'type' | 'suspect' | 'wakeAt'>;

export interface LiveRuns {
  readonly runs: readonly LiveRun[];
  /** There are older live runs, which were not read. */
  readonly isCut: boolean;
}

interface Attention {
  readonly suspects: readonly LiveRun[];
  /** The most overdue first. */
  readonly overdue: readonly (LiveRun & { readonly wakeAt: string })[];
}

/** @param now time of the API, epoch ms */
export function attentionOf(runs: readonly LiveRun[], now: number): Attention {
  const due = runs.flatMap((run) => {
    const { wakeAt } = run;
    return wakeAt !== undefined && isOverdue(wakeAt, now) ? [{ ...run, wakeAt }] : [];
  });
  return {
    // A suspect that was cleared is dispatched like any other run.
    suspects: runs.filter(({ suspect }) => suspect?.alone),
    overdue: due.sort((a, b) => Date.parse(a.wakeAt) - Date.parse(b.wakeAt)),
  };
}

/** `3 deaths of workers: step charge`. */
export function suspicionText({ suspect }: LiveRun): string {
  if (!suspect) return '';
  const { times, steps, deaths } = suspect;
  const named = steps.length > 0 ? steps : deaths.map(({ step }) => step);
  const at = named.length === 0 ? '' : `: ${named.join(', ')}`;
  return `${times === 1 ? 'once' : `${times} times`}${at}`;
}
