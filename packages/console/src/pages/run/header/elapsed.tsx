/** How long a run has been where it is, or how long it took. */
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
  return <span className="number">{` · for ${duration(Math.max(0, now - Date.parse(since)))}`}</span>;
}
