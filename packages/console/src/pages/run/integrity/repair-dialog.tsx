/** Changes of a repair, and the button that applies them. */
import { useQuery } from '@tanstack/react-query';
import { ActionDialog } from '../../../parts/dialog/action-dialog.tsx';
import { Failure, Loading } from '../../../parts/states.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { useMay, useSession } from '../../../session/session.ts';
import { repairRun } from '../actions/acts.ts';
import { ProblemList } from './problem-list.tsx';
import { type Repair, repairWords } from './words.ts';

interface RepairDialogProps {
  readonly runId: string;
  onApplied(): void;
  onClose(): void;
}

export function RepairDialog({ runId, onApplied, onClose }: RepairDialogProps) {
  const { api } = useSession();
  const may = useMay('admin');
  const { data, error, refetch } = useQuery({
    queryKey: ['run', runId, 'repair'],
    // The dialog shows the current state, never a cached one.
    staleTime: 0,
    gcTime: 0,
    queryFn: () => api.preview(repairRun(runId, false).planned),
  });
  const isPlanned = data?.outcome === 'planned';
  return (
    <ActionDialog
      title="Repair the run"
      verb="Apply the repair"
      act={isPlanned && may ? repairRun(runId, true) : undefined}
      onDone={() => {
        onApplied();
        onClose();
      }}
      onClose={onClose}
    >
      <p className="hint">
        The documents beside the journal are rewritten from the journal; an event records it. The journal
        itself is never changed, nor what waits for a person.
      </p>
      {error ? <Failure error={error} again={refetch} /> : !data && <Loading what="what would be changed" />}
      {data && <Changes repair={data} />}
      {isPlanned && !may && <p className="hint">Applying it requires the role admin.</p>}
    </ActionDialog>
  );
}

function Changes({ repair }: { readonly repair: Repair }) {
  const { changes, refused, more } = repair;
  return (
    <>
      <p>{repairWords(repair)}</p>
      <ul className="problems">
        {changes.map(({ subject, action, fixes, differences = [], waitId }) => (
          <li key={`${subject} ${action} ${waitId ?? ''}`}>
            <p>
              <strong>{action}</strong>{' '}
              <code>
                <Text value={subject} />
              </code>{' '}
              <span className="dim">{fixes.join(', ')}</span>
            </p>
            {differences.map(({ member, before, after }) => (
              <p key={member} className="mono">
                <Text value={member} />: <Text value={before ?? 'nothing'} max={200} /> →{' '}
                <Text value={after ?? 'nothing'} max={200} />
              </p>
            ))}
          </li>
        ))}
        {more !== undefined && <li className="dim">and {more} more</li>}
      </ul>
      {refused.length > 0 && (
        <>
          <h3>Needs a person</h3>
          <ProblemList problems={refused} more={undefined} />
        </>
      )}
    </>
  );
}
