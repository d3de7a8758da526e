/** Notices on every page: stale data, a wrong clock of this device, and refused requests of pages left since. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { deviceNow } from '../api/device-clock.ts';
import { NotApproved } from '../parts/not-approved.tsx';
import { duration, roughly } from '../parts/time.ts';
import { useNow } from '../parts/when.tsx';
import { useReached, useSession } from '../session/session.ts';

/** Delay of the notice, so that a single lost request is not reported. */
const PATIENCE_MS = 3_000;
/** Interval of the probes while the API does not respond. */
const PROBE_MS = 3_000;
/** Greatest tolerated offset; it does not matter for times in minutes. */
const MAX_OFFSET_MS = 60_000;

export function Notices() {
  const { lostAt, clockOffsetMs } = useReached();
  useProbe(lostAt !== undefined);
  return (
    <div className="notices" role="status">
      {lostAt !== undefined && <Lost at={lostAt} />}
      {Math.abs(clockOffsetMs) > MAX_OFFSET_MS && (
        <p>
          The clock of this device is {inMinutes(clockOffsetMs)} {clockOffsetMs > 0 ? 'behind' : 'ahead of'}{' '}
          the clock of the API. Times shown are those of the API.
        </p>
      )}
    </div>
  );
}

/** Shows the refusals of requests whose page was left. */
export function LateRefusals() {
  const { lateRefusals } = useSession();
  const refused = useSyncExternalStore(lateRefusals.subscribe, lateRefusals.shown);
  return <NotApproved refused={refused} onClose={lateRefusals.dismiss} />;
}

function inMinutes(ms: number): string {
  const minute = 60_000;
  return duration(Math.round(Math.abs(ms) / minute) * minute);
}

function Lost({ at }: { readonly at: number }) {
  useNow();
  const ms = deviceNow() - at;
  if (ms < PATIENCE_MS) return null;
  return (
    <p>
      <strong>
        The API has not responded for <span aria-live="off">{roughly(ms)}</span>.
      </strong>{' '}
      The page shows earlier data; it is updated as soon as the API responds.
    </p>
  );
}

/** Probes the API while it is lost, and rereads everything shown when it responds. */
function useProbe(isLost: boolean): void {
  const { api } = useSession();
  const queries = useQueryClient();
  useEffect(() => {
    if (!isLost) return;
    const timer = setInterval(() => {
      // Only the client's record of reachability matters, not the answer.
      api.health().catch(() => undefined);
    }, PROBE_MS);
    return () => {
      clearInterval(timer);
      void queries.invalidateQueries();
    };
  }, [isLost, api, queries]);
}
