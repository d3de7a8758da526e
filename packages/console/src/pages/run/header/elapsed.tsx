/** Time of a run in its status, or its duration. */
import { isFinal } from '../../../parts/run-status.ts';
import { duration } from '../../../parts/time.ts';
import { useNow } from '../../../parts/when.tsx';
import type { Run } from '../live/events.ts';

interface ElapsedProps {
  readonly run: Run;
  /** ISO. */
  readonly since: string | undefined;
}

export function Elapsed({ run: { status, durationMs }, since }: ElapsedProps) {
  const now = useNow();
  if (isFinal(status))
    return durationMs === undefined ? null : (
      <span className="number">{` · took ${duration(durationMs)}`}</span>
    );
  if (since === undefined) return null;
  return (
    // It counts the seconds within a live region.
    <span className="number" aria-live="off">
      {` · for ${duration(Math.max(0, now - Date.parse(since)))}`}
    </span>
  );
}

type Timed = Pick<Run, 'durationMs' | 'startedAt' | 'createdAt' | 'completedAt'>;

/** Time from the start of a run to its end, or until now. */
export function Took({ run: { durationMs, startedAt, createdAt, completedAt } }: { readonly run: Timed }) {
  const now = useNow();
  const from = Date.parse(startedAt ?? createdAt);
  const ms = durationMs ?? (completedAt === undefined ? now : Date.parse(completedAt)) - from;
  return <span className="number">{duration(Math.max(0, ms))}</span>;
}
