/** The tab of the timeline: attempts and waits of each step over time, the dispatches above, and the events as a list. */
import { useEffect, useState } from 'react';
import { Failure, Loading } from '../../../parts/states.tsx';
import { useQueryState } from '../../../shell/address.ts';
import { useRunData } from '../live/run-data.ts';
import { Chart } from './chart.tsx';
import { EventList } from './event-list.tsx';
import { useTimeline } from './use-timeline.ts';
import { loadedText, originText } from './words.ts';
import './timeline.css';

/** Events to load when the end of the loaded ones comes into view. */
const PIECE = 1_000;
const ZOOMS = [1, 2, 4, 8, 16, 32, 64];

export function TimelineTab() {
  const { id, run, events, undone, history, head, loadUntil } = useRunData();
  const [items, setItems] = useQueryState('items');
  const [idle, setIdle] = useQueryState('idle');
  const [zoom, setZoom] = useState(0);
  const { life, rows, to, scale } = useTimeline({
    withItems: items === 'shown',
    withIdle: idle === 'shown',
  });
  useEffect(() => {
    if (events.length === 0) loadUntil(PIECE);
  }, [events.length, loadUntil]);

  if (events.length === 0)
    return history.error ? (
      <Failure error={history.error} again={() => loadUntil(PIECE)} />
    ) : (
      <Loading what="what happened" />
    );
  const more = () => {
    if (!history.complete && !history.full && !history.loading) loadUntil(events.length + PIECE);
  };
  const factor = ZOOMS[zoom] ?? 1;
  return (
    <section className="timeline" aria-label="What happened when">
      <div className="row">
        <Toggle name="Every item" value={items} onChange={setItems} />
        <Toggle name="Full idle time" value={idle} onChange={setIdle} />
        <fieldset className="segments" aria-label="Zoom">
          <button type="button" disabled={zoom === 0} onClick={() => setZoom(zoom - 1)} aria-label="Farther">
            −
          </button>
          <button
            type="button"
            disabled={zoom === ZOOMS.length - 1}
            onClick={() => setZoom(zoom + 1)}
            aria-label="Closer"
          >
            +
          </button>
        </fieldset>
        <span className="dim" role="status">
          {history.complete
            ? `${events.length.toLocaleString('en')} events`
            : loadedText(events.length, head)}
          {history.loading && ', loading…'}
          {run && ` · ${originText(run)}`}
        </span>
        {!history.complete && !history.full && !history.loading && (
          <button type="button" onClick={() => loadUntil(head)}>
            Load all
          </button>
        )}
      </div>
      {history.full && (
        <p className="note">
          The page shows the first {events.length.toLocaleString('en')} of {head.toLocaleString('en')} events.
          The command line shows the rest:{' '}
          <code>{`npx cairn runs watch ${id} --after ${events.length}`}</code>.
        </p>
      )}
      {history.error !== undefined && <Failure error={history.error} again={more} />}
      <div className="timeline-body">
        <Chart rows={rows} life={life} undone={undone} scale={scale} to={to} zoom={factor} onEnd={more} />
        <EventList events={events} from={life.from} onEnd={more} />
      </div>
    </section>
  );
}

interface ToggleProps {
  readonly name: string;
  readonly value: string | undefined;
  onChange(value: string | undefined, remembered: 'replace'): void;
}

function Toggle({ name, value, onChange }: ToggleProps) {
  return (
    <label className="toggle">
      <input
        type="checkbox"
        checked={value === 'shown'}
        onChange={(event) => onChange(event.target.checked ? 'shown' : undefined, 'replace')}
      />
      {name}
    </label>
  );
}
