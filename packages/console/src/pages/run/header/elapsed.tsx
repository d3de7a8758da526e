/** Time of a run in its status, or its duration. */
import { isFinal } from '../../../parts/run-status.ts';
import { duration, tookText } from '../../../parts/time.ts';
import { useNow } from '../../../parts/when.tsx';
import type { Run } from '../live/events.ts';

interface ElapsedProps {
  readonly run: Run;
  /** ISO. */
  readonly since: string | undefined;
}

export function Elapsed({ run, since }: ElapsedProps) {
  const now = useNow();
  if (isFinal(run.status)) {
    const took = tookText(run, now);
    return took === undefined ? null : <span className="number">{` · took ${took}`}</span>;
  }
  if (since === undefined) return null;
  return (
    // The time is within a live region, where a screen reader would announce every second.
    <span className="number" aria-live="off">
      {` · for ${duration(Math.max(0, now - Date.parse(since)))}`}
    </span>
  );
}
