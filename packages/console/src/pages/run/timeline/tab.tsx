/** What happened when: each step's attempts and waits over time, the drives above them, and the same as a list of words. */
import { useEffect, useMemo, useState } from 'react';
import { Failure, Loading } from '../../../parts/states.tsx';
import { useNow } from '../../../parts/when.tsx';
import { useQueryState } from '../../../shell/address.ts';
import { useRunData } from '../live/run-data.ts';
import { Chart } from './chart.tsx';
import { EventList } from './event-list.tsx';
import { lifeOf, rowsOf } from './model.ts';
import { Scale } from './scale.ts';
import './timeline.css';

/** Loaded at once when one comes to the end of what there is. */
const PIECE = 1_000;
const ZOOMS = [1, 2, 4, 8, 16, 32, 64];

export function TimelineTab() {
  const { id, events, histories, undone, history, head, live, loadUntil } = useRunData();
  const [items, setItems] = useQueryState('items');
  const [idle, setIdle] = useQueryState('idle');
  const [zoom, setZoom] = useState(0);
  const now = useNow();
  const life = useMemo(() => lifeOf(events), [events]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the histories are one map that grows with the events
  const rows = useMemo(() => rowsOf(histories, items === 'shown'), [histories, items, events]);
  const isOpen = live !== 'ended' && history.complete;
  const to = isOpen ? Math.max(now, life.to) : life.to;
  const scale = useMemo(
    () =>
      new Scale(
        { from: life.from, to },
        idle === 'shown' ? [] : life.drives.map((drive) => ({ from: drive.from, to: drive.to ?? to })),
      ),
    [life, to, idle],
  );
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
        <Toggle name="Items of sets" value={items} onChange={setItems} />
        <Toggle name="Idle time in full" value={idle} onChange={setIdle} />
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
            : `${events.length.toLocaleString('en')} of ${head.toLocaleString('en')} events`}
          {history.loading && ', loading…'}
        </span>
        {!history.complete && !history.full && !history.loading && (
          <button type="button" onClick={() => loadUntil(head)}>
            Load all
          </button>
        )}
      </div>
      {history.full && (
        <p className="note">
          This run has more events than a page can hold: what is shown ends at event{' '}
          {events.length.toLocaleString('en')} of {head.toLocaleString('en')}. The command line tells the
          rest: <code>{`npm run cairn -- runs watch ${id} --after ${events.length}`}</code>.
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
