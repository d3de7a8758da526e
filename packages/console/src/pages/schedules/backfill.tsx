/** Starts the runs of past slots, after showing their number. */

import { useQuery } from '@tanstack/react-query';
import { type ChangeEvent, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { refusalOf } from '../../api/problem.ts';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { isoOf, localOf } from '../../parts/local-time.ts';
import { Failure } from '../../parts/states.tsx';
import { countOf } from '../../parts/visible-text.ts';
import { useNow } from '../../parts/when.tsx';
import { useSession } from '../../session/session.ts';
import { StopNote } from '../workflows/stop-note.tsx';
import { backfillSchedule, type Range } from './acts.ts';

const HOUR_MS = 3_600_000;
const DEFAULT_MS = 24 * HOUR_MS;
/** Initial range for a dense schedule. One slot a minute gives 961 slots in it, and a backfill may have 1,000. */
const DENSE_MS = 16 * HOUR_MS;

interface BackfillProps {
  readonly id: string;
  /** The workflow that it starts. */
  readonly type: string;
  onClose(): void;
}

export function Backfill({ id, type, onClose }: BackfillProps) {
  const { api } = useSession();
  const now = useNow();
  const [done, setDone] = useState<Answer<'Backfilled'>>();
  const [longest] = useState(() => localOf(now - DEFAULT_MS));
  const [from, setFrom] = useState(longest);
  const [isChosen, setChosen] = useState(false);
  const [to, setTo] = useState(() => localOf(now));
  const range = { from: isoOf(from), to: isoOf(to) };
  const wrong = wrongRange(range);
  const isRange = wrong === undefined;
  const slots = { from: range.from ?? '', to: range.to ?? '' };
  const count = useQuery({
    queryKey: ['schedules', 'backfill', id, slots],
    enabled: isRange,
    queryFn: () => api.preview(backfillSchedule(id, slots, true).planned),
  });
  const { data } = count;
  // The form chose this range itself, so it must correct it.
  const isTooLong =
    from === longest && !isChosen && count.error !== null && lackOf(count.error) !== undefined;
  const error = isTooLong ? null : count.error;
  useEffect(() => {
    if (isTooLong) setFrom(localOf(now - DENSE_MS));
  }, [isTooLong, now]);
  if (done) return <Outcome done={done} onClose={onClose} />;
  const choose = (set: (value: string) => void) => (event: ChangeEvent<HTMLInputElement>) => {
    setChosen(true);
    set(event.target.value);
  };
  const most = data?.slots ?? 0;
  return (
    <ActionDialog
      title="Backfill"
      verb={most > 0 ? `Start ${most > 1 ? 'up to ' : ''}${countOf(most, 'run')}` : 'Start the runs'}
      act={isRange && most > 0 ? backfillSchedule(id, slots) : undefined}
      lack={wrong ?? (error ? lackOf(error) : data && 'No slot is between these times.')}
      onDone={setDone}
      onClose={onClose}
    >
      <p className="hint">Starts a run for each past slot that has none. Times are those of this browser.</p>
      <div className="row">
        <label className="field">
          From
          <input type="datetime-local" value={from} onChange={choose(setFrom)} />
        </label>
        <label className="field">
          To
          <input type="datetime-local" value={to} onChange={choose(setTo)} />
        </label>
      </div>
      <p aria-live="polite">
        {isRange &&
          (data
            ? `${countOf(data.slots, 'slot')}. Slots that already have a run are skipped.`
            : !error && 'Counting…')}
      </p>
      {error && <Failure error={error} />}
      <StopNote types={[type]} />
    </ActionDialog>
  );
}

/** Undefined if the range is valid. */
function wrongRange({ from, to }: { readonly [K in keyof Range]: Range[K] | undefined }): string | undefined {
  if (from === undefined || to === undefined) return 'Enter both times.';
  return from > to ? 'The first time must not be after the second.' : undefined;
}

/** Undefined if another range would not help. */
function lackOf(error: unknown): string | undefined {
  return refusalOf(error)?.code === 'INVALID_INPUT' ? 'Choose another range.' : undefined;
}

interface OutcomeProps {
  readonly done: Answer<'Backfilled'>;
  onClose(): void;
}

function Outcome({ done: { scheduleId, started, existing }, onClose }: OutcomeProps) {
  return (
    <Dialog title="Backfilled" onClose={onClose}>
      <p role="status">
        {countOf(started, 'run')} started; {countOf(existing, 'slot')} had one.{' '}
        <Link href={`/runs?thread=${encodeURIComponent(scheduleId)}`}>Runs of the schedule</Link>
      </p>
    </Dialog>
  );
}
