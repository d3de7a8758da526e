/** Data of the timeline: rows, dispatches and the time scale, as far as the events are loaded. */
import { useMemo } from 'react';
import { useNow } from '../../../parts/when.tsx';
import { useRunData } from '../live/run-data.ts';
import { dispatchesAsLoaded, lifeOf, rowsAsLoaded, timelineRows, withRunningSpans } from './model.ts';
import { Scale } from './scale.ts';

interface TimelineOptions {
  readonly withItems: boolean;
  /** Draws idle time in full length. */
  readonly withIdle: boolean;
}

export function useTimeline({ withItems, withIdle }: TimelineOptions) {
  const { run, events, histories, history, live, isOver } = useRunData();
  const now = useNow();
  const folded = useMemo(() => lifeOf(events), [events]);
  const isComplete = history.complete;
  const loaded = useMemo(() => ({ run, isOver, isComplete }), [run, isOver, isComplete]);
  const life = useMemo(
    () => ({ ...folded, dispatches: dispatchesAsLoaded(folded.dispatches, loaded) }),
    [folded, loaded],
  );
  const running = run?.running;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the histories are one map that grows with the events
  const allRows = useMemo(
    () => timelineRows(running ? withRunningSpans(histories, running) : histories, withItems),
    [histories, withItems, running, events],
  );
  const rows = useMemo(() => rowsAsLoaded(allRows, loaded), [allRows, loaded]);
  const isOpen = live !== 'ended' && isComplete;
  const to = isOpen ? Math.max(now, life.to) : life.to;
  const scale = useMemo(
    () =>
      new Scale(
        { from: life.from, to },
        withIdle ? [] : life.dispatches.map((dispatch) => ({ from: dispatch.from, to: dispatch.to ?? to })),
      ),
    [life, to, withIdle],
  );
  return { life, rows, to, scale };
}
