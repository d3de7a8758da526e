/** The rows of the journal. */
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { Status } from '../../../parts/status.tsx';
import { Facts } from '../../../parts/tables/facts.tsx';
import { RowTable } from '../../../parts/tables/row-table.tsx';
import { headOf, visibleText } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { ViewLink } from '../header/view-link.tsx';
import { gistOf, type JournalRow } from './rows.ts';

interface JournalTableProps {
  readonly rows: readonly JournalRow[];
  /** Seq of the open row. */
  readonly chosen: string | undefined;
  onChoose(seq: string | undefined): void;
  onNearEnd(): void;
}

const COLUMNS = ['Seq', 'At (UTC)', 'Event', 'Step', 'By', 'What it says'];
/** Characters of the text of a row; more does not fit a line. */
const GIST_CHARS = 240;

export function JournalTable({ rows, chosen, onChoose, onNearEnd }: JournalTableProps) {
  return (
    <RowTable
      label="Events, the oldest first"
      className="journal-table"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ event }) => String(event.seq)}
      cellsOf={cellsOf}
      wholeOf={(row) => <Whole row={row} />}
      chosen={chosen}
      onChoose={onChoose}
      onNearEnd={onNearEnd}
    />
  );
}

function cellsOf({ event, moved, step }: JournalRow) {
  return [
    event.seq,
    <time key="at" className="dim" dateTime={event.at} title={event.at}>
      {clockOf(event.at)}
    </time>,
    <span key="type" className="journal-type">
      {visibleText(event.type)}
      {moved && <Status status={moved.to} />}
    </span>,
    step !== undefined && <bdi key="step">{visibleText(step)}</bdi>,
    <span key="by" className="dim">
      {event.initiator} {event.actor !== undefined && <bdi>{visibleText(headOf(event.actor, 60))}</bdi>}
    </span>,
    <bdi key="gist" className="dim">
      {visibleText(headOf(gistOf(event), GIST_CHARS))}
    </bdi>,
  ];
}

/** UTC, to the millisecond; the day is in the title. */
function clockOf(at: string): string {
  return at.slice(11, 23);
}

function Whole({ row: { event, moved, step, isCheckpoint } }: { readonly row: JournalRow }) {
  const { effectId } = event.data as { readonly effectId?: unknown };
  return (
    <>
      <JsonView value={event.data} label={`Data of event ${event.seq}`} />
      <Facts
        facts={[
          ['At', <When key="at" at={event.at} exact />],
          ['By', [event.initiator, event.actor].filter(Boolean).join(' ')],
          ['Moved the run', moved && `from ${moved.from} to ${moved.to}`],
          ['Written by', event.writer && `dispatch ${event.writer.epoch}, ${event.writer.owner}`],
          ['Id', event.id],
          ['Hash', event.hash],
          ['Hash before', event.prevHash],
        ]}
      />
      <p className="row">
        {isCheckpoint && (
          <ViewLink to={{ tab: 'checkpoints', checkpoint: String(event.seq) }}>Its checkpoint</ViewLink>
        )}
        {step !== undefined && <ViewLink to={{ of: step }}>All events of {visibleText(step)}</ViewLink>}
        {step !== undefined && <ViewLink to={{ tab: 'overview', step }}>In the graph</ViewLink>}
        {typeof effectId === 'string' && (
          <ViewLink to={{ tab: 'effects', effect: effectId }}>The effect</ViewLink>
        )}
      </p>
    </>
  );
}
