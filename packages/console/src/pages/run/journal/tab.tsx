/** The tab of the run's journal: every event, its effect, and whether the hash chain is intact. */
import { useEffect, useMemo } from 'react';
import { Empty, Failure, Loading } from '../../../parts/states.tsx';
import { useQueryChange, useQueryState } from '../../../shell/address.ts';
import { IntegrityPanel } from '../integrity/panel.tsx';
import { useRunData } from '../live/run-data.ts';
import { FilterBar } from './filter-bar.tsx';
import { facetsOf, journalRows, wantedRows } from './rows.ts';
import { JournalTable } from './table.tsx';
import './journal.css';

/** Events to load when the end of the loaded ones comes near. */
const AHEAD = 500;

export function JournalTab() {
  const { events, head, history, loadUntil, again } = useRunData();
  const [type] = useQueryState('event');
  const [step] = useQueryState('of');
  const [seqText] = useQueryState('seq');
  const change = useQueryChange();
  const rows = useMemo(() => journalRows(events), [events]);
  const facets = useMemo(() => facetsOf(rows), [rows]);
  const wanted = useMemo(() => wantedRows(rows, { type, step }), [rows, type, step]);
  const seq = seqText === undefined ? undefined : Number(seqText);
  useEffect(() => {
    if (seq !== undefined && seq > events.length && seq <= head) loadUntil(seq);
  }, [seq, head, events.length, loadUntil]);
  return (
    <div className="journal stack">
      <IntegrityPanel />
      <FilterBar
        facets={facets}
        type={type}
        step={step}
        onChange={(filter) => change({ ...filter, seq: undefined })}
      />
      <p className="dim journal-count" role="status">
        {wanted.length === rows.length
          ? `${rows.length} events`
          : `${wanted.length} of ${rows.length} events`}
        {!history.complete && `; ${rows.length} of ${head} are loaded`}
      </p>
      {history.error !== undefined && <Failure error={history.error} again={again} />}
      {wanted.length > 0 ? (
        <JournalTable
          rows={wanted}
          chosen={seqText}
          onChoose={(chosen) => change({ seq: chosen }, 'replace')}
          onNearEnd={() => loadUntil(events.length + AHEAD)}
        />
      ) : history.loading ? (
        <Loading what="the journal" />
      ) : history.error !== undefined ? null : (
        <Empty title="No matching events">
          <button type="button" onClick={() => change({ event: undefined, of: undefined })}>
            Show all events
          </button>
        </Empty>
      )}
      {!history.complete && !history.loading && !history.full && history.error === undefined && (
        <button type="button" onClick={() => loadUntil(events.length + 2 * AHEAD)}>
          Load more of the journal
        </button>
      )}
      {history.full && (
        <p className="hint">
          The journal is too long for this page. Read the rest with <code>cairn runs watch</code> or{' '}
          <code>GET /v1/runs/…/events</code>.
        </p>
      )}
    </div>
  );
}
