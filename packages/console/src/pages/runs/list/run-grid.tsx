/**
 * The rows; only those near the view are on the page. Owns the keyboard: arrow keys or j/k move, Enter opens, x selects, and
 * Shift extends the selection.
 */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { isFocusLost } from '../../../parts/focus.ts';
import { textScale } from '../../../parts/tables/text-scale.ts';
import type { RunRow } from '../row.ts';
import { type Selection, toggledRow, withRows } from '../selection.ts';
import type { OptionalColumn } from '../view/columns.ts';
import type { Density } from '../view/use-kept.ts';
import { ColumnHeader, Grid, Row, RowGroup } from './grid-parts.tsx';
import { COLUMNS, RowView, rowElementId } from './row-view.tsx';
import { useGridKeys } from './use-grid-keys.ts';
import type { RunList } from './use-run-list.ts';

/** Heights of a row in `page.css` at the default font, px. */
const ROW_PX: Readonly<Record<Density, number>> = { roomy: 50, compact: 19 };
const HEAD_PX = 34;
const OVERSCAN = 8;

/** The run opened last from the list, to whose row Back returns. A reload forgets it. */
let opened: string | undefined;

interface RunGridProps {
  readonly list: RunList;
  /** Order of the rows, in words. */
  readonly order: string;
  readonly density: Density;
  readonly hidden: readonly OptionalColumn[];
  /** The reason why queued runs of the workflow wait; undefined if only for a worker. */
  stopOf(type: string): string | undefined;
  readonly selection: Selection;
  onSelect(selection: Selection): void;
  onOpen(id: string): void;
}

export function RunGrid({ list, order, density, hidden, stopOf, selection, onSelect, onOpen }: RunGridProps) {
  const { sections, setAtTop } = list;
  const grid = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const margin = useTopOf(body);
  const [activeId, setActiveId] = useState(opened);
  /** First row of a range. */
  const [anchorId, setAnchorId] = useState<string>();
  const virtual = useWindowVirtualizer({
    count: sections.total,
    estimateSize: () => ROW_PX[density] * textScale(),
    overscan: OVERSCAN,
    scrollMargin: margin,
    scrollPaddingStart: HEAD_PX * textScale(),
    getItemKey: (index) => sections.at(index)?.id ?? index,
    onChange: ({ scrollOffset }) => setAtTop((scrollOffset ?? 0) <= margin),
  });
  // Earlier heights are used until rows are measured again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another height makes them wrong
  useLayoutEffect(() => virtual.measure(), [density]);
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => list.onVisible(first, last));

  const active = activeId === undefined ? -1 : sections.indexOf(activeId);
  useReturn(active, () => {
    virtual.scrollToIndex(active);
    if (isFocusLost()) grid.current?.focus({ preventScroll: true });
  });
  const moveTo = (wanted: number, isRange: boolean) => {
    const index = Math.max(0, Math.min(wanted, sections.total - 1));
    virtual.scrollToIndex(index);
    // From now on Enter belongs to the list, not to a button that was pressed before.
    grid.current?.focus({ preventScroll: true });
    const row = sections.at(index);
    if (!row) return;
    setActiveId(row.id);
    if (isRange) selectTo(index);
    else setAnchorId(row.id);
  };
  const selectTo = (index: number) => {
    const from = anchorId === undefined ? active : sections.indexOf(anchorId);
    onSelect(withRows(selection, sections.between(from === -1 ? index : from, index)));
  };
  const toggle = (row: RunRow, isRange: boolean) => {
    if (isRange && anchorId !== undefined) return selectTo(sections.indexOf(row.id));
    setAnchorId(row.id);
    onSelect(toggledRow(selection, row));
  };
  const open = (id: string) => {
    opened = id;
    onOpen(id);
  };
  const activeRow = sections.at(active);
  useGridKeys({
    move: (by, isRange) => moveTo(active + by, isRange),
    moveTo: (end) => moveTo(end === 'first' ? 0 : sections.total - 1, false),
    open: () => activeRow && open(activeRow.id),
    choose: (isRange) => activeRow && toggle(activeRow, isRange),
    clear: () => onSelect(new Map()),
    page: Math.max(1, Math.floor((last - first) / 2)),
  });

  return (
    <Grid
      ref={grid}
      className={['run-grid', density, ...hidden.map((column) => `hide-${column}`)].join(' ')}
      aria-label={`Runs, ${order}`}
      aria-rowcount={sections.total + 1}
      aria-multiselectable="true"
      aria-activedescendant={activeRow && rowElementId(activeRow.id)}
      onFocus={(event) => {
        if (event.target === event.currentTarget && active === -1) setActiveId(sections.at(first)?.id);
      }}
    >
      <Row className="run-row titles" aria-rowindex={1}>
        {COLUMNS.map(({ name, title }) => (
          <ColumnHeader key={name} className={name}>
            {name === 'c-choose' ? <span className="visually-hidden">{title}</span> : title}
          </ColumnHeader>
        ))}
      </Row>
      <RowGroup ref={body} className="run-rows" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const row = sections.at(index);
          return (
            <RowView
              key={key}
              row={row}
              stop={row && stopOf(row.type)}
              index={index}
              top={start - margin}
              isActive={row !== undefined && row.id === activeId}
              isChosen={row !== undefined && selection.has(row.id)}
              onToggle={toggle}
              onActive={setActiveId}
              onOpen={open}
            />
          );
        })}
      </RowGroup>
    </Grid>
  );
}

/** Calls back once, when the row that was opened before is in the list, if it is active initially. */
function useReturn(active: number, onReturn: () => void): void {
  const isDue = useRef(opened !== undefined);
  useEffect(() => {
    if (!isDue.current || active === -1) return;
    isDue.current = false;
    onReturn();
  });
}

/**
 * Distance of the element from the top of the page, px, which changes when the content above grows. It is read after the page
 * was laid out, because reading it earlier would cause another layout.
 */
function useTopOf(element: React.RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const own = element.current;
    const around = own?.closest('main');
    if (!own || !around) return;
    const measure = () => setTop(Math.round(own.getBoundingClientRect().top + window.scrollY));
    measure();
    const observer = new ResizeObserver(measure);
    for (const one of [around, ...(around.firstElementChild?.children ?? [])]) observer.observe(one);
    return () => observer.disconnect();
  }, [element]);
  return top;
}
