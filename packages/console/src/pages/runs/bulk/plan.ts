/** Plan of a bulk change: for each run whether and how it changes, or why not. Pure. */
import type { Answer } from '../../../api/client.ts';
import type { RunFilter, RunStatus } from '../filter/filter.ts';
import type { RunRow } from '../row.ts';

export type BulkMode = 'cancel' | 'resume';

export type Verdict =
  | { readonly isHit: true; readonly what: string }
  | { readonly isHit: false; readonly why: string };

/** Statuses that the change is for: of all runs that match, others are not even looked at. */
const MEANT: Readonly<Record<BulkMode, readonly RunStatus[]>> = {
  cancel: ['running', 'replaying', 'pending', 'awaiting_approval', 'waiting_external', 'interrupted'],
  resume: ['interrupted', 'waiting_external', 'failed', 'cancelled'],
};

/** Filters to read one after the other: a filter without a status becomes one for each status that the change concerns. */
export function filtersFor(mode: BulkMode, filter: RunFilter): readonly RunFilter[] {
  if (filter.status !== undefined) return [filter];
  return MEANT[mode].map((status) => ({ ...filter, status }));
}

/** `those that are interrupted, …`; undefined: the filter says it. */
export function meantText(mode: BulkMode, filter: RunFilter): string | undefined {
  if (filter.status !== undefined) return undefined;
  const words = MEANT[mode].map((status) => status.replaceAll('_', ' '));
  return `those that are ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

export function cancelVerdict(row: Pick<RunRow, 'status' | 'mark' | 'isOver'>): Verdict {
  if (row.isOver) return { isHit: false, why: 'has ended' };
  if (row.mark === 'being cancelled') return { isHit: false, why: 'is being cancelled already' };
  const isDriven = row.status === 'running' || row.status === 'replaying';
  return { isHit: true, what: isDriven ? 'ends at its next step' : 'ends at once' };
}

type Preview = Answer<'SuccessorPreview'>;

export function resumeVerdict({ would, blockers, steps, effects }: Preview): Verdict {
  const [blocker] = blockers;
  if (blocker) return { isHit: false, why: blocker.detail ?? blocker.title };
  if (would === 'nothing') return { isHit: false, why: 'is running already' };
  if (would === 'unpark') return { isHit: true, what: 'continues' };
  const reused = steps.filter(({ action }) => action === 'reused').length;
  const asked = effects.filter(({ action }) => action === 'asked').length;
  const again = effects.filter(({ action }) => action === 're-executed').length;
  const parts = [
    `a new run: ${counted(reused, 'step')} reused, ${counted(steps.length - reused, 'step')} to run`,
    again > 0 && `${counted(again, 'effect')} repeated`,
    asked > 0 && `${counted(asked, 'question')} to a person`,
  ];
  return { isHit: true, what: parts.filter(Boolean).join('; ') };
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
