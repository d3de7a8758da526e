/** One event: a line, and below it all that it has where it is open. */
import { memo } from 'react';
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { Status } from '../../../parts/status.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { headOf, visibleText } from '../../../parts/visible-text.ts';
import { ViewLink } from '../header/view-link.tsx';
import { gistOf, type JournalRow } from './rows.ts';

interface EventRowProps {
  readonly row: JournalRow;
  /** In the table, its head included, from 1. */
  readonly position: number;
  readonly isOpen: boolean;
  onToggle(): void;
}

/** Of what a row says; more does not fit a line. */
const GIST_CHARS = 240;

export const EventRow = memo(
  function EventRow({ row, position, isOpen, onToggle }: EventRowProps) {
    const { event, moved, step } = row;
    const gist = headOf(gistOf(event), GIST_CHARS);
    return (
      // biome-ignore-start lint/a11y/useSemanticElements: rows that are not in sight are not there
      // biome-ignore-start lint/a11y/useFocusableInteractive: its button takes the focus
      <>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: its button is for keys */}
        <div
          role="row"
          className="journal-row"
          aria-rowindex={position}
          data-seq={event.seq}
          data-open={isOpen}
          onClick={onToggle}
        >
          <span role="cell">
            <button
              type="button"
              className="plain seq"
              aria-expanded={isOpen}
              onClick={(click) => {
                click.stopPropagation();
                onToggle();
              }}
            >
              {isOpen ? '▾' : '▸'} {event.seq}
            </button>
          </span>
          <span role="cell" className="dim">
            <time dateTime={event.at} title={event.at}>
              {clockOf(event.at)}
            </time>
          </span>
          <span role="cell" className="journal-type">
            {visibleText(event.type)}
            {moved && <Status status={moved.to} />}
          </span>
          <span role="cell">{step !== undefined && <bdi>{visibleText(step)}</bdi>}</span>
          <span role="cell" className="dim">
            {event.initiator}
            {event.actor !== undefined && (
              <>
                {' '}
                <bdi>{visibleText(headOf(event.actor, 60))}</bdi>
              </>
            )}
          </span>
          <span role="cell" className="journal-gist">
            <bdi>{visibleText(gist)}</bdi>
          </span>
        </div>
        {isOpen && <Whole row={row} />}
      </>
      // biome-ignore-end lint/a11y/useFocusableInteractive: its button takes the focus
      // biome-ignore-end lint/a11y/useSemanticElements: rows that are not in sight are not there
    );
  },
  (before, after) =>
    before.row.event === after.row.event &&
    before.position === after.position &&
    before.isOpen === after.isOpen,
);

/** UTC, to the millisecond; the day is in the title. */
function clockOf(at: string): string {
  return at.slice(11, 23);
}

function Whole({ row: { event, moved, step, isCheckpoint } }: { readonly row: JournalRow }) {
  const { effectId } = event.data as { readonly effectId?: unknown };
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <div role="row" className="journal-whole" aria-label={`All of event ${event.seq}`} tabIndex={-1}>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="cell" className="stack">
        <dl className="facts">
          <Fact name="At" value={event.at} />
          {moved && <Fact name="Moved the run" value={`from ${moved.from} to ${moved.to}`} />}
          <Fact name="Id" value={event.id} />
          {event.writer && (
            <Fact name="Written by" value={`drive ${event.writer.epoch}, ${event.writer.owner}`} />
          )}
          <Fact name="Hash" value={event.hash} />
          <Fact name="Hash before" value={event.prevHash} />
        </dl>
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
        <JsonView value={event.data} label={`Data of event ${event.seq}`} />
      </div>
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <code>
          <Text value={value} />
        </code>
      </dd>
    </>
  );
}
