/** The steps of a run as a table: for screen readers, for items of maps, which the graph only counts, and for operations of flows. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Status } from '../../../parts/status.tsx';
import { textScale } from '../../../parts/tables/text-scale.ts';
import { duration } from '../../../parts/time.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import type { RunGraphNode } from '../live/events.ts';
import { isOperation, itemText, turnsKey } from '../live/operations.ts';
import { useRunData } from '../live/run-data.ts';
import { itemKind, itemStatus, itemsText, type StepView } from './step-view.ts';
import { type RowFacts, sumOf, tableRows } from './table-rows.ts';

interface StepTableProps {
  readonly plan: readonly RunGraphNode[];
  viewOf(id: string): StepView | undefined;
  readonly selected: string | undefined;
  /** Operations of one name are one row, which can be unfolded. */
  readonly isFolded: boolean;
  onSelect(key: string): void;
}

/** At the default font, px. */
const ROW_PX = 32;
/** Rows beyond those in view, so that scrolling meets no gap. */
const BEYOND = 10;

export function StepTable({ plan, viewOf, selected, isFolded, onSelect }: StepTableProps) {
  const { steps, histories, events } = useRunData();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (selected !== undefined && isOperation(selected))
      setOpen((before) => new Set([...before, turnsKey(selected)]));
  }, [selected]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the histories are one map that grows with the events
  const all = useMemo(
    () => tableRows(plan, steps, histories, { isFolded, open }),
    [plan, steps, histories, events, isFolded, open],
  );
  const frame = useRef<HTMLDivElement>(null);
  const rowHeight = ROW_PX * textScale();
  const rows = useVirtualizer({
    count: all.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: BEYOND,
    // The head is above the rows, which begin below it.
    scrollPaddingEnd: 2 * rowHeight,
  });
  const shownOf = useRowFacts(viewOf);
  /** Index of the selected row; -1: none. */
  const place = all.findIndex((row) => row.kind === 'step' && row.key === selected);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined;
    if (by === undefined) return;
    let to = place + by;
    while (all[to]?.kind === 'turns') to += by;
    const row = all[to];
    if (!row) return;
    event.preventDefault();
    onSelect(row.key);
    rows.scrollToIndex(to);
  };
  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  // A step that was found or is in the address is scrolled to once, unless it is in view.
  const scrolledTo = useRef<string>(undefined);
  useEffect(() => {
    if (place < 0 || scrolledTo.current === selected) return;
    scrolledTo.current = selected;
    rows.scrollToIndex(place);
  }, [place, selected, rows]);
  const shown = rows.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = rows.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the rows within
    <div
      className="step-table"
      ref={frame}
      style={{ '--rows-height': `${(all.length + 1) * rowHeight + 8}px` } as object}
      onKeyDown={onKeyDown}
    >
      <table aria-label="Steps" aria-rowcount={all.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map(([name, width]) => (
              <th key={name} scope="col" style={{ width }}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space height={above} />
          {shown.map(({ index, key }) => {
            const row = all[index];
            if (!row) return null;
            const rowProps = { 'aria-rowindex': index + 2, style: { height: rowHeight } };
            return row.kind === 'turns' ? (
              <tr
                key={key}
                {...rowProps}
                className="depth-1"
                data-turns={row.key}
                onClick={() => toggle(row.key)}
              >
                <th scope="row">
                  <button type="button" className="link" aria-expanded={row.isOpen}>
                    {row.isOpen ? '▾' : '▸'} <bdi>{visibleText(row.name)}</bdi> ×{row.members.length}
                  </button>
                </th>
                <Cells of={sumOf(row.members.map(shownOf))} />
              </tr>
            ) : (
              <tr
                key={key}
                {...rowProps}
                className={`depth-${row.depth}`}
                data-step={row.key}
                aria-current={selected === row.key ? 'true' : undefined}
                onClick={() => onSelect(row.key)}
              >
                <th scope="row">
                  <button type="button" className="link" title={row.key}>
                    <bdi>{visibleText(itemText(row.key))}</bdi>
                  </button>
                </th>
                <Cells of={shownOf(row.key)} />
              </tr>
            );
          })}
          <Space height={below} />
        </tbody>
      </table>
    </div>
  );
}

/** Returns the function that gives the facts of a step, an item or an operation. */
function useRowFacts(viewOf: StepTableProps['viewOf']): (key: string) => RowFacts {
  const { steps, histories, undone, isOver } = useRunData();
  return useCallback(
    (key: string): RowFacts => {
      const view = viewOf(key);
      if (view)
        return { ...view, more: view.items ? itemsText(view.items, view.kind) : view.needs.join(', ') };
      const state = steps.get(key);
      const history = histories.get(key);
      return {
        kind: itemKind(key, history),
        status: itemStatus(state, undone.get(key), isOver),
        revision: state?.revision ?? 1,
        attempts: history?.attempts ?? 0,
        durationMs: state?.phase === 'done' ? history?.durationMs : undefined,
        more: history?.summary ?? '',
      };
    },
    [viewOf, steps, histories, undone, isOver],
  );
}

function Cells({ of: { kind, status, attempts, revision, durationMs, more } }: { readonly of: RowFacts }) {
  return (
    <>
      <td>{kind}</td>
      <td>
        <Status status={status} />
      </td>
      <td>{attempts || ''}</td>
      <td>{revision}</td>
      <td>{durationMs === undefined ? '' : duration(durationMs)}</td>
      <td className="dim">
        <bdi>{visibleText(more.slice(0, MAX_MORE))}</bdi>
      </td>
    </>
  );
}

const COLUMNS = [
  ['Step', '28%'],
  ['Kind', '5.715rem'],
  ['State', '9.286rem'],
  ['Attempts', '5.715rem'],
  ['Revision', '5.715rem'],
  ['Took', '6.429rem'],
  ['Items, or what it needs', 'auto'],
] as const;

/** Takes the place of the rows out of view. */
function Space({ height }: { readonly height: number }) {
  return height > 0 ? (
    <tr>
      <td style={{ height, padding: 0, border: 0 }} colSpan={COLUMNS.length} />
    </tr>
  ) : null;
}

const MAX_MORE = 200;
