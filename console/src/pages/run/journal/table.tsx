/** The rows of the journal, of which only those in sight are there; one of them is open. Arrow keys lead from one to the next. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { EventRow } from './event-row.tsx';
import type { JournalRow } from './rows.ts';

/** Of a row that is not open; an open one is measured. */
const ROW_PX = 34;
const BEYOND = 10;
/** Rows before the end at which more is asked for. */
const NEAR = 40;

interface JournalTableProps {
  readonly rows: readonly JournalRow[];
  /** Seq of the open one. */
  readonly chosen: number | undefined;
  onChoose(seq: number | undefined): void;
  onNearEnd(): void;
}

export function JournalTable({ rows, chosen, onChoose, onNearEnd }: JournalTableProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: BEYOND,
    getItemKey: (index) => rows[index]?.event.seq ?? index,
  });
  const items = virtual.getVirtualItems();
  const isNearEnd = (items.at(-1)?.index ?? 0) > rows.length - NEAR;
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, onNearEnd]);
  const at = chosen === undefined ? -1 : rows.findIndex(({ event }) => event.seq === chosen);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [at, virtual]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroll.current) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === 'Escape') onChoose(undefined);
    if (to === undefined) return;
    event.preventDefault();
    const row = rows[Math.max(0, Math.min(to, rows.length - 1))];
    if (row) onChoose(row.event.seq);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows that are not in sight are not there, which a table cannot have
    <div
      ref={scroll}
      className="journal-table card"
      role="table"
      aria-label="Events, the oldest first"
      aria-rowcount={rows.length + 1}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <Head />
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="rowgroup" className="journal-rows" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const row = rows[index];
          if (!row) return null;
          const { seq } = row.event;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="journal-place"
              role="presentation"
              style={{ transform: `translateY(${start}px)` }}
            >
              <EventRow
                row={row}
                position={index + 2}
                isOpen={seq === chosen}
                onToggle={() => onChoose(seq === chosen ? undefined : seq)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Head() {
  return (
    // biome-ignore-start lint/a11y/useSemanticElements: as above
    // biome-ignore-start lint/a11y/useFocusableInteractive: a heading of a table that is only read
    <div role="rowgroup" className="journal-head">
      <div role="row" className="journal-row" aria-rowindex={1}>
        {['Seq', 'At', 'Event', 'Step', 'By', 'What it says'].map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
      </div>
    </div>
    // biome-ignore-end lint/a11y/useFocusableInteractive: a heading of a table that is only read
    // biome-ignore-end lint/a11y/useSemanticElements: as above
  );
}
