/** Times that update while they are shown: a relative time, with the exact one on hover, and the duration of a run. */
import { type PointerEvent, useContext, useSyncExternalStore } from 'react';
import { lastTick, onTick } from '../api/device-clock.ts';
import { SessionContext } from '../session/session.ts';
import { isFinal } from './run-status.ts';
import { briefly, exactly, relative, type TimedRun, tookText } from './time.ts';

/** Epoch ms by the API's clock, updated once a second. */
export function useNow(): number {
  const reach = useContext(SessionContext)?.api.reach;
  const own = useSyncExternalStore(onTick, lastTick);
  return own + (reach?.shown().clockOffsetMs ?? 0);
}

interface WhenProps {
  readonly at: string;
  /** Also shows the exact time, for times that may be days ago or are compared with other records. */
  readonly exact?: boolean;
}

export function When({ at, exact }: WhenProps) {
  const now = useNow();
  // The tooltip is made on hover, because the first formatting costs 30 ms, which would delay the first rows of a list.
  const explain = ({ currentTarget }: PointerEvent) => {
    currentTarget.setAttribute('title', `${exactly(at)} (${at})`);
  };
  return (
    // Within a live region, a screen reader would announce every second.
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

/** The duration of a run that has not ended, drawn every second. */
function Counting({ run }: { readonly run: TimedRun }) {
  return <span className="number">{tookText(run, useNow())}</span>;
}
