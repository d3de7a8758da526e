/**
 * A long table that renders only the rows in view; one row can be open and shows all its data. Arrow keys move between rows.
 * It sets the ARIA roles of a table itself, because an HTML table cannot leave out rows.
 *
 * Must not: know what the rows are about.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { TableRow } from './table-row.tsx';
import { textScale } from './text-scale.ts';
import './row-table.css';

interface RowTableProps<T> {
  readonly label: string;
  /** The class sets `--columns`, the widths. */
  readonly className: string;
  readonly columns: readonly string[];
  readonly rows: readonly T[];
  keyOf(row: T): string;
  /** Cells in the order of the columns. The first is the button that opens the row. */
  cellsOf(row: T): readonly ReactNode[];
  /** Details of the open row. */
  wholeOf(row: T): ReactNode;
  /** Key of the open row. */
  readonly chosen: string | undefined;
  onChoose(key: string | undefined): void;
  /** Called when the last rows come into view. */
  onNearEnd?(): void;
}

/** Height of a closed row and of the sticky head at the default font, px. Open rows are measured. */
const ROW_PX = 35;
const BEYOND = 10;
/** Rows before the end at which more are requested. */
const NEAR = 30;

export function RowTable<T>(props: RowTableProps<T>) {
  const { label, className, columns, rows, keyOf, cellsOf, wholeOf, chosen, onChoose, onNearEnd } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const head = ROW_PX * textScale();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => head,
    overscan: BEYOND,
    scrollMargin: head,
    scrollPaddingStart: head,
    getItemKey: (index) => (index < rows.length ? keyOf(rows[index] as T) : index),
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const isNearEnd = last > rows.length - NEAR;
  // The effect runs for each number of rows, because new rows may not fill the view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callback is another one with each rendering
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, rows.length]);
  const at = chosen === undefined ? -1 : rows.findIndex((row) => keyOf(row) === chosen);
  useEffect(() => {
    if (at < 0 || !scroll.current || isInSight(scroll.current, at)) return;
    virtual.scrollToIndex(at, { align: 'start' });
  }, [at, virtual]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroll.current) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === 'Escape') onChoose(undefined);
    if (to === undefined) return;
    event.preventDefault();
    const row = rows[Math.max(0, Math.min(to, rows.length - 1))];
    if (row !== undefined) onChoose(keyOf(row));
  };
  return (
    <section
      ref={scroll}
      className={`row-table card ${className}`}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: an HTML table cannot leave out the rows out of view */}
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <Head columns={columns} />
        {/* biome-ignore lint/a11y/useSemanticElements: as above */}
        <div role="rowgroup" className="row-table-body" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            if (index >= rows.length) return null;
            const row = rows[index] as T;
            const own = keyOf(row);
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className="row-table-place"
                role="presentation"
                style={{ transform: `translateY(${start - head}px)` }}
              >
                <TableRow
                  name={own}
                  position={index + 2}
                  cells={cellsOf(row)}
                  isOpen={own === chosen}
                  onToggle={() => onChoose(own === chosen ? undefined : own)}
                >
                  {own === chosen && wholeOf(row)}
                </TableRow>
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** Checks only the line of the row, not its details. */
function isInSight(table: HTMLElement, index: number): boolean {
  const row = table.querySelector(`[data-index="${index}"]`)?.getBoundingClientRect();
  const { top, bottom } = table.getBoundingClientRect();
  const height = ROW_PX * textScale();
  return row !== undefined && row.top >= top + height && row.top + height <= bottom;
}

function Head({ columns }: { readonly columns: readonly string[] }) {
  return (
    // biome-ignore-start lint/a11y/useSemanticElements: as above
    // biome-ignore-start lint/a11y/useFocusableInteractive: a heading of a table that is only read
    <div role="rowgroup" className="row-table-head">
      <div role="row" className="row-table-row" aria-rowindex={1}>
        {columns.map((name) => (
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
