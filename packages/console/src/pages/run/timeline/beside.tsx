/** The timeline beside the graph, for runs whose events fit a page. The tab Timeline has the rest. */
import { useEffect } from 'react';
import { Failure, Loading } from '../../../parts/states.tsx';
import { ViewLink } from '../header/view-link.tsx';
import { useRunData } from '../live/run-data.ts';
import { Chart } from './chart.tsx';
import { useTimeline } from './use-timeline.ts';
import { loadedText } from './words.ts';
import './timeline.css';

/** Limit of the events of a run whose timeline is drawn beside the graph. */
const MAX_EVENTS = 1_000;

export function hasTimelineBeside(head: number): boolean {
  return head > 0 && head <= MAX_EVENTS;
}

/** Shown instead for a run with more events. */
export function TimelineElsewhere({ head }: { readonly head: number }) {
  return (
    <p className="hint">
      The timeline is drawn beside the steps up to {MAX_EVENTS.toLocaleString('en')} events; this run has{' '}
      {head.toLocaleString('en')}. The{' '}
      <ViewLink to={{ tab: 'timeline', view: undefined }}>tab Timeline</ViewLink> has all of them.
    </p>
  );
}

export function TimelineBeside() {
  const { events, undone, head, history, loadUntil } = useRunData();
  const { life, rows, to, scale } = useTimeline({ withItems: false, withIdle: false });
  useEffect(() => loadUntil(head), [head, loadUntil]);
  const failure = history.error !== undefined && (
    <Failure error={history.error} again={() => loadUntil(head)} />
  );
  if (events.length === 0) return failure || <Loading what="the timeline" />;
  return (
    <div className="timeline-beside">
      {failure}
      <Chart rows={rows} life={life} undone={undone} scale={scale} to={to} zoom={1} onEnd={noMore} />
      <p className="dim">
        <ViewLink to={{ tab: 'timeline', view: undefined }}>Zoom and list of events</ViewLink>
        {!history.complete && ` · ${loadedText(events.length, head)}`}
      </p>
    </div>
  );
}

/** All events are loaded at once. */
function noMore() {}
