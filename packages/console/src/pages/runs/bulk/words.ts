/** Texts of the dialog that changes many runs: counts and outcomes. Pure. */
import { countOf } from '../../../parts/visible-text.ts';
import { MAX_CHOSEN } from '../selection.ts';
import type { BulkMode } from './plan.ts';
import type { BulkStage } from './use-bulk.ts';

/** Effect of the change on each run. */
export const EFFECTS: Readonly<Record<BulkMode, string>> = {
  cancel:
    'Each run ends as cancelled, after its completed steps are undone where the workflow says how. This cannot be undone.',
  resume:
    'A run that has ended continues as a new run, which reuses its completed steps. A run that has not ended is dispatched again.',
  replay: 'Each run is repeated as a new run. The run itself does not change.',
  approve: 'The open approval of each run is approved. Questions asked later are not approved.',
};

const DONE: Readonly<Record<BulkMode, string>> = {
  cancel: 'cancelled',
  resume: 'resumed',
  replay: 'replayed',
  approve: 'approved',
};

/** @param will true for the runs that change */
export function partTitle(mode: BulkMode, will: boolean, count: number): string {
  return `${will ? 'Will be' : 'Will not be'} ${DONE[mode]} (${count})`;
}

/** The title of the table of changed runs after sending. */
export function sentTitle(count: number): string {
  return `Sent (${count})`;
}

interface BulkCounts {
  readonly targets: number;
  /** Runs that were previewed. */
  readonly checked: number;
  /** Runs that change, by their preview. */
  readonly included: number;
  readonly done: number;
  readonly failed: number;
}

export function progressText(
  mode: BulkMode,
  stage: BulkStage,
  { targets, checked, included, done, failed }: BulkCounts,
): string {
  switch (stage) {
    case 'finding':
      return 'Finding the runs…';
    case 'checking':
      return `Checking what would happen: ${checked} of ${countOf(targets, 'run')} checked.`;
    case 'broken':
      return 'The runs could not be listed. Nothing was changed.';
    case 'ready':
      return readyText(mode, included, targets - included);
    case 'sending':
      return `${done + failed} of ${countOf(included, 'run')} sent.`;
    case 'over': {
      const left = included - done - failed;
      return [
        `Done for ${done} of ${countOf(included, 'run')}.`,
        failed > 0 && `${failed} failed.`,
        left > 0 && `${left} not sent.`,
      ]
        .filter(Boolean)
        .join(' ');
    }
  }
}

function readyText(mode: BulkMode, included: number, left: number): string {
  if (included + left === 0) return 'No run matches.';
  const willBe = `${countOf(included, 'run')} will be ${DONE[mode]}.`;
  return left === 0 ? willBe : `${willBe} ${left} will not: the list gives the reasons.`;
}

/** @param left runs without an outcome, after the others were sent */
export function submitText(
  verb: string,
  { included, left }: { readonly included: number; readonly left: number },
): string {
  if (left === 0) return `${verb} ${countOf(included, 'run')}`;
  return left === 1 ? 'Send the other run' : `Send the other ${left} runs`;
}

/**
 * The reason why matching runs are not listed: there are too many; too many other runs lie between; or the API has no such
 * filter, and they are older than the runs that the console searches itself.
 */
export type LeftOut = 'too many' | 'not read' | 'not searched';

/** Runs of a status that the console searches for a cause or a back-off, by which the API cannot filter. */
export const MAX_SEARCHED = 1_000;

export const LEFT_OUT: Readonly<Record<LeftOut, string>> = {
  'too many': `More runs match than are changed at once: only the first ${MAX_CHOSEN} are listed.`,
  'not read':
    'Older runs were not read, because too many of them do not match. Narrow the list with a filter or a time range.',
  'not searched': `Only the newest ${MAX_SEARCHED.toLocaleString('en')} runs of a status were searched. To reach older ones, filter by time of creation.`,
};
