/** Data of the timeline: rows, dispatches and the time scale, as far as the events are loaded. */
import { useMemo } from 'react';
import { useNow } from '../../../parts/when.tsx';
import { useRunData } from '../live/run-data.ts';
import { drivesAsLoaded, lifeOf, rowsAsLoaded, timelineRows, withRunningSpans } from './model.ts';
import { Scale } from './scale.ts';

interface TimelineOptions {
  readonly withItems: boolean;
  /** Draws stretches in which nothing happened in full length. */
  readonly withIdle: boolean;
}

export function useTimeline({ withItems, withIdle }: TimelineOptions) {
  const { run, events, histories, history, live, isOver } = useRunData();
  const now = useNow();
  const told = useMemo(() => lifeOf(events), [events]);
  const isComplete = history.complete;
  const loaded = useMemo(() => ({ run, isOver, isComplete }), [run, isOver, isComplete]);
  const life = useMemo(() => ({ ...told, drives: drivesAsLoaded(told.drives, loaded) }), [told, loaded]);
  const running = run?.running;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the histories are one map that grows with the events
  const toldRows = useMemo(
    () => timelineRows(running ? withRunningSpans(histories, running) : histories, withItems),
    [histories, withItems, running, events],
  );
  const rows = useMemo(() => rowsAsLoaded(toldRows, loaded), [toldRows, loaded]);
  const isOpen = live !== 'ended' && isComplete;
  const to = isOpen ? Math.max(now, life.to) : life.to;
  const scale = useMemo(
    () =>
      new Scale(
        { from: life.from, to },
        withIdle ? [] : life.drives.map((drive) => ({ from: drive.from, to: drive.to ?? to })),
      ),
    [life, to, withIdle],
  );
  return { life, rows, to, scale };
}
