/** Tables that fit the terminal: shrinkable columns are truncated, then the least important columns are dropped. Pure. */
import type { Style, Tone } from './style.ts';
import { cells, clean, cutTo, pad } from './width.ts';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string;
  readonly tone?: ((row: Row) => Tone) | undefined;
  readonly align?: 'right';
  /** May be truncated to this number of cells. */
  readonly least?: number;
  /** Columns with a higher number are dropped first; 0 (the default) is never dropped. */
  readonly dropOrder?: number;
}

const GAP = 2;

interface TableShape {
  readonly style: Style;
  /** Undefined: unlimited width, nothing is truncated. */
  readonly columns: number | undefined;
}

/** Returns a header line and the rows, or an empty text without rows. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], shape: TableShape): string {
  if (rows.length === 0) return '';
  const { style } = shape;
  // An empty column is dropped.
  const used = columns.filter(({ of }) => rows.some((row) => of(row) !== ''));
  const texts = rows.map((row) => new Map(used.map((column) => [column, clean(column.of(row))])));
  const wanted = new Map(
    used.map((column) => [
      column,
      Math.max(cells(column.title), ...texts.map((row) => cells(row.get(column) ?? ''))),
    ]),
  );
  const widths = fitted(used, wanted, shape.columns);
  const line = (cell: (column: Column<Row>, width: number) => string) =>
    [...widths]
      .map(([column, width]) => cell(column, width))
      .join(' '.repeat(GAP))
      .trimEnd();
  const head = line((column, width) => pad(style.dim(cutTo(column.title, width)), width, column.align));
  const body = rows.map((row, at) =>
    line((column, width) => {
      const text = cutTo(texts[at]?.get(column) ?? '', width);
      return pad(style.paint(column.tone?.(row) ?? 'plain', text), width, column.align);
    }),
  );
  return `${[head, ...body].join('\n')}\n`;
}

function fitted<Row>(
  columns: readonly Column<Row>[],
  wanted: ReadonlyMap<Column<Row>, number>,
  room: number | undefined,
): Map<Column<Row>, number> {
  const widths = new Map(columns.map((column) => [column, wanted.get(column) ?? 0]));
  if (room === undefined) return widths;
  const over = () =>
    [...widths.values()].reduce((sum, width) => sum + width, 0) + GAP * (widths.size - 1) - room;
  for (;;) {
    for (const [column, width] of [...widths].toSorted(([, a], [, b]) => b - a)) {
      const excess = over();
      if (excess <= 0) return widths;
      if (column.least !== undefined)
        widths.set(column, Math.max(Math.min(column.least, width), width - excess));
    }
    if (over() <= 0) return widths;
    const [first] = [...widths.keys()]
      .filter(({ dropOrder = 0 }) => dropOrder > 0)
      .toSorted((a, b) => (b.dropOrder ?? 0) - (a.dropOrder ?? 0));
    if (!first) return widths;
    widths.delete(first);
    // Columns that were truncated before may fit now.
    for (const column of widths.keys()) widths.set(column, wanted.get(column) ?? 0);
  }
}
