/** The steps of a run as a table: for who reads rather than looks, and for items of sets, which the graph only counts. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useCallback, useMemo, useRef } from 'react';
import { Status } from '../../../parts/status.tsx';
import { duration } from '../../../parts/time.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import { type GraphNode, stepIdOf } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { itemsText, type StepView, statusOf, UNDONE } from './step-view.ts';

interface StepTableProps {
  readonly plan: readonly GraphNode[];
  viewOf(id: string): StepView | undefined;
  readonly selected: string | undefined;
  onSelect(key: string): void;
}

const ROW_HEIGHT = 32;
/** Rows beyond those in view, so that scrolling meets no gap. */
const BEYOND = 10;

export function StepTable({ plan, viewOf, selected, onSelect }: StepTableProps) {
  const { steps, histories, undone } = useRunData();
  const keys = useMemo(() => rowKeys(plan, steps), [plan, steps]);
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: keys.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: BEYOND,
  });
  const row = useCallback(
    (key: string): Omit<StepView, 'items'> & { readonly more: string } => {
      const view = viewOf(key);
      if (view) return { ...view, more: view.items ? itemsText(view.items) : view.needs.join(', ') };
      const state = steps.get(key);
      const history = histories.get(key);
      const undoing = undone.get(key);
      return {
        id: key,
        kind: 'item',
        needs: [],
        status: undoing ? UNDONE[undoing.outcome] : statusOf(state),
        seq: state?.seq,
        revision: state?.revision ?? 1,
        attempts: history?.attempts ?? 0,
        durationMs: state?.phase === 'done' ? history?.durationMs : undefined,
        runningSince: undefined,
        share: undefined,
        more: history?.summary ?? '',
      };
    },
    [viewOf, steps, histories, undone],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    const at = selected === undefined ? -1 : keys.indexOf(selected);
    const to = event.key === 'ArrowDown' ? at + 1 : event.key === 'ArrowUp' ? at - 1 : undefined;
    const key = to === undefined ? undefined : keys[to];
    if (to === undefined || key === undefined) return;
    event.preventDefault();
    onSelect(key);
    rows.scrollToIndex(to);
  };
  const shown = rows.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = rows.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the rows within
    <div className="step-table" ref={frame} onKeyDown={onKeyDown}>
      <table aria-label="Steps" aria-rowcount={keys.length + 1}>
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
          {shown.map(({ index, key: place }) => {
            const step = row(keys[index] ?? '');
            return (
              <tr
                key={place}
                className={step.kind === 'item' ? 'item' : undefined}
                aria-rowindex={index + 2}
                aria-current={selected === step.id ? 'true' : undefined}
                data-step={step.id}
                style={{ height: ROW_HEIGHT }}
              >
                <th scope="row">
                  <button type="button" className="linkish" onClick={() => onSelect(step.id)}>
                    <bdi>{visibleText(step.id)}</bdi>
                  </button>
                </th>
                <td>{step.kind}</td>
                <td>
                  <Status status={step.status} />
                </td>
                <td>{step.attempts || ''}</td>
                <td>{step.revision}</td>
                <td>{step.durationMs === undefined ? '' : duration(step.durationMs)}</td>
                <td className="dim">
                  <bdi>{visibleText(step.more.slice(0, MOST_MORE))}</bdi>
                </td>
              </tr>
            );
          })}
          <Space height={below} />
        </tbody>
      </table>
    </div>
  );
}

const COLUMNS = [
  ['Step', '28%'],
  ['Kind', '80px'],
  ['State', '130px'],
  ['Attempts', '80px'],
  ['Revision', '80px'],
  ['Took', '90px'],
  ['Items, or what it needs', 'auto'],
] as const;

/** In the place of rows that are out of view. */
function Space({ height }: { readonly height: number }) {
  return height > 0 ? (
    <tr>
      <td style={{ height, padding: 0, border: 0 }} colSpan={COLUMNS.length} />
    </tr>
  ) : null;
}

const MOST_MORE = 200;

/** Each step, and below it its items. */
function rowKeys(plan: readonly GraphNode[], steps: ReadonlyMap<string, unknown>): string[] {
  const items = new Map<string, string[]>();
  for (const key of steps.keys()) {
    const id = stepIdOf(key);
    if (id === key) continue;
    const list = items.get(id);
    if (list) list.push(key);
    else items.set(id, [key]);
  }
  for (const list of items.values()) list.sort(byItem);
  return plan.flatMap(({ id }) => [id, ...(items.get(id) ?? [])]);
}

const numbers = new Intl.Collator('en', { numeric: true });
function byItem(a: string, b: string): number {
  return numbers.compare(a, b);
}
