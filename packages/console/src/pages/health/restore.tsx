/** The pause after a restore of the database, and the questions that the restore left. Absent if there was none. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { plannedAct } from '../../parts/act.ts';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { Failure, useLastFailure } from '../../parts/states.tsx';
import { Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useAnswer } from '../../session/use-answer.ts';
import { usePart } from './use-part.tsx';

const EVERY_MS = 10_000;
/** Limit of the runs read from the inbox: one page of the API. */
const MAX_ASKING = 100;

export function Restore() {
  const [isReleasing, setReleasing] = useState(false);
  const query = useAnswer('/v1/restore', {}, { refetchInterval: EVERY_MS });
  const part = usePart(query, {
    what: 'the state of a restored database',
    absenceOf: (data) => (isOfRestored(data) ? undefined : 'The database was not restored.'),
  });
  if (!part.data) return part.instead;
  const { data, failure } = part;
  if (!isOfRestored(data)) return failure;
  const { held, home, restoredAt, by } = data;
  return (
    <section className="card" aria-labelledby="restore">
      {failure}
      <div className="row between">
        <h2 id="restore">Restored database</h2>
        {held && (
          <GuardedButton least="installation" onClick={() => setReleasing(true)}>
            Release
          </GuardedButton>
        )}
      </div>
      <p className={held ? 'warn' : 'good'} role="status">
        {held
          ? '‖ Paused: no run of any tenant moves until it is released. Starts, answers and events are kept.'
          : '✓ Released: runs move.'}
      </p>
      <p>
        <Text value={home} />
        {restoredAt && (
          <>
            {' '}
            was marked as restored <When at={restoredAt} />
          </>
        )}
        {by && (
          <>
            {' '}
            by <Text value={by} />
          </>
        )}
        .
      </p>
      {restoredAt && <QuestionsSince at={restoredAt} />}
      {isReleasing && (
        <ActionDialog
          title="Release the restored database"
          verb="Release"
          act={plannedAct('POST', '/v1/restore/release', {
            change: { body: {} },
            cli: ['restore', 'release'],
          })}
          onDone={() => {
            setReleasing(false);
            void query.refetch();
          }}
          onClose={() => setReleasing(false)}
        >
          <p>
            Runs of every tenant continue. Actions that may have been carried out before the restore become
            questions in the inbox. Cancel runs that should not continue first.
          </p>
        </ActionDialog>
      )}
    </section>
  );
}

const isOfRestored = ({ held, restoredAt }: Answer<'Restore'>) => held || restoredAt !== undefined;

/** Counts questions of the signed-in person's tenant only. */
function QuestionsSince({ at }: { readonly at: string }) {
  const { data, error, refetch } = useLastFailure(
    useAnswer('/v1/inbox', { query: { limit: MAX_ASKING } }, { refetchInterval: EVERY_MS }),
  );
  if (error && !data) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return null;
  const left = data.items.filter(({ kind, openedAt }) => kind !== 'approval' && openedAt >= at).length;
  return (
    <p>
      <Link href="/inbox">
        {left}
        {data.next === undefined ? '' : '+'} open {left === 1 ? 'question' : 'questions'}
      </Link>{' '}
      of this tenant about actions in doubt since the restore.
    </p>
  );
}
