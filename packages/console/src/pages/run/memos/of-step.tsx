/** The memos of one step, or of its compensation: a row each, with the value once it is opened. */
import type { Answer } from 'cairn/api/calls';
import { useState } from 'react';
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { Failure } from '../../../parts/states.tsx';
import { usePages } from '../../../parts/use-pages.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { useSession } from '../../../session/session.ts';

type MemoView = Answer<'Memo'>;

/** Limit of a page. Pages with large memos are shorter. */
const PAGE = '100';
/** Interval while the body runs, because a memo is not an event. Each memo shown costs a billed read. */
const RUNNING_REREAD_MS = 3_000;

interface MemosOfStepProps {
  readonly runId: string;
  readonly stepKey: string;
  readonly revision: number;
  /** Those of its compensation. */
  readonly undoes?: true;
  /** A change means that the step may have recorded more. */
  readonly version: unknown;
  readonly isRunning?: boolean;
}

export function MemosOfStep({ runId, stepKey, revision, undoes, version, isRunning }: MemosOfStepProps) {
  const { api } = useSession();
  const query = { step: stepKey, revision, undoes };
  const { items, hasMore, error, loadMore, again } = usePages({
    queryKey: ['run', runId, 'memos', query],
    read: (cursor, signal) =>
      api.get('/v1/runs/{id}/memos', {
        params: { id: runId },
        query: { ...query, limit: PAGE, cursor },
        signal,
      }),
    version,
    rereadMs: isRunning ? RUNNING_REREAD_MS : undefined,
  });
  const title = undoes ? 'Memos of its undo' : 'Memos';
  if (items.length === 0 && !error) return null;
  return (
    <section aria-label={undoes ? 'Memos of the undo of the step' : 'Memos of the step'}>
      <h3>{title}</h3>
      {error !== null && <Failure error={error} again={again} />}
      <ul className="step-memos">
        {inOrder(items, hasMore).map((memo) => (
          <li key={memo.name}>
            <MemoRow memo={memo} file={`${runId}-${stepKey}-${undoes ? 'undo-' : ''}${memo.name}.json`} />
          </li>
        ))}
      </ul>
      {hasMore && (
        <button type="button" className="small" onClick={loadMore}>
          More memos
        </button>
      )}
    </section>
  );
}

interface MemoRowProps {
  readonly memo: MemoView;
  /** Name of the file that a download makes. */
  readonly file: string;
}

function MemoRow({ memo: { name, value, recordedAt }, file }: MemoRowProps) {
  const [isOpen, setOpen] = useState(false);
  const shown = visibleText(name);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <bdi>{shown}</bdi>{' '}
        <span className="dim">
          <When at={recordedAt} />
        </span>
      </summary>
      {isOpen && <JsonView value={value} label={`Memo ${shown}`} file={file} />}
    </details>
  );
}

/** Sorts by time once all are loaded. Until then the order is that of the pages, by name. */
function inOrder(memos: readonly MemoView[], hasMore: boolean): readonly MemoView[] {
  return hasMore ? memos : memos.toSorted((a, b) => Date.parse(a.recordedAt) - Date.parse(b.recordedAt));
}
