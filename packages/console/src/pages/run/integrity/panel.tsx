/** Integrity check of a run, and its repair after a preview. */
import { useState } from 'react';
import { Failure, Loading } from '../../../parts/states.tsx';
import { When } from '../../../parts/when.tsx';
import { useMay } from '../../../session/session.ts';
import { useAnswer } from '../../../session/use-answer.ts';
import { useRunData } from '../live/run-data.ts';
import { ProblemList } from './problem-list.tsx';
import { RepairDialog } from './repair-dialog.tsx';
import { integritySummary } from './words.ts';
import './integrity.css';

export function IntegrityPanel() {
  const { id } = useRunData();
  const may = useMay('operator');
  const [isRepairing, setRepairing] = useState(false);
  const { data, error, isFetching, refetch } = useAnswer(
    '/v1/runs/{id}/consistency',
    { params: { id } },
    // The check runs on request only, because it reads every document of the run.
    { enabled: false, retry: false },
  );
  const summary = data && integritySummary(data);
  return (
    <section className="card integrity" aria-label="Are the documents consistent?">
      <div className="row">
        {summary ? (
          <strong className={summary.tone} role="status">
            {summary.mark} {summary.words}
          </strong>
        ) : (
          <span className="dim">
            Not checked yet. A check compares every document of the run with its journal.
          </span>
        )}
        {data && (
          <span className="dim">
            <When at={data.checkedAt} />
          </span>
        )}
        <span className="integrity-buttons row">
          <button
            type="button"
            disabled={!may || isFetching}
            title={may ? undefined : NEEDS}
            onClick={() => void refetch()}
          >
            {data ? 'Check again' : 'Check the chain'}
          </button>
          {data && data.verdict !== 'consistent' && (
            <button type="button" disabled={!may} onClick={() => setRepairing(true)}>
              Repair
            </button>
          )}
        </span>
      </div>
      {!may && <p className="hint">{NEEDS}</p>}
      {isFetching && <Loading what="and checking every document" />}
      {error && !isFetching && <Failure error={error} />}
      {data && <ProblemList problems={data.problems} more={data.more} />}
      {data && data.unread.length > 0 && (
        <p className="hint">
          {data.unread.length} large values were not read back: there are too many of them.
        </p>
      )}
      {isRepairing && (
        <RepairDialog runId={id} onClose={() => setRepairing(false)} onApplied={() => void refetch()} />
      )}
    </section>
  );
}

const NEEDS = 'A check requires the role operator.';
