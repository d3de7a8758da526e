/** Times that are updated while they are shown: a relative one, with the exact time on hovering, and the one that a run took. */
import { type PointerEvent, useContext, useSyncExternalStore } from 'react';
import { lastTick, onTick } from '../api/device-clock.ts';
import { SessionContext } from '../session/session.ts';
import { isFinal } from './run-status.ts';
import { briefly, exactly, relative, type TimedRun, tookText } from './time.ts';

/** Epoch ms, moving once a second; as the API has it, whatever this machine's clock says. */
export function useNow(): number {
  const reach = useContext(SessionContext)?.api.reach;
  const own = useSyncExternalStore(onTick, lastTick);
  return own + (reach?.shown().clockOffsetMs ?? 0);
}

interface WhenProps {
  readonly at: string;
  /** Says when exactly beside it: where it may be days ago, or is compared with what others saw. */
  readonly exact?: boolean;
}

export function When({ at, exact }: WhenProps) {
  const now = useNow();
  // The first format of a time costs the browser 30 ms, before the first rows of a list.
  const explain = ({ currentTarget }: PointerEvent) => {
    currentTarget.setAttribute('title', `${exactly(at)} (${at})`);
  };
  return (
    // In a live region a screen reader would read it out with each second.
    <time dateTime={at} aria-live="off" onPointerEnter={explain}>
      {relative(at, now)}
      {exact && <span className="dim"> · {briefly(at, now)}</span>}
    </time>
  );
}

export function Took({ run }: { readonly run: TimedRun }) {
  if (run.durationMs === undefined && !isFinal(run.status)) return <Counting run={run} />;
  return <span className="number">{tookText(run, 0)}</span>;
}

/** Drawn every second. Only runs that have not ended use it. */
function Counting({ run }: { readonly run: TimedRun }) {
  return <span className="number">{tookText(run, useNow())}</span>;
}
