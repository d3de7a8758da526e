/** The selected runs. Pure. Runs stay selected when they leave the list: the bulk dialog shows each. */
import type { RunRow } from './row.ts';

/** As many runs as a person can review, and a few minutes suffice to change. */
export const MAX_CHOSEN = 500;

export type Selection = ReadonlyMap<string, RunRow>;

export const NONE_CHOSEN: Selection = new Map();

export function toggledRow(selection: Selection, row: RunRow): Selection {
  const after = new Map(selection);
  if (!after.delete(row.id) && after.size < MAX_CHOSEN) after.set(row.id, row);
  return after;
}

/** Adds unselected runs, in the given order, up to the limit. */
export function withRows(selection: Selection, rows: readonly RunRow[]): Selection {
  const after = new Map(selection);
  for (const row of rows) if (after.has(row.id) || after.size < MAX_CHOSEN) after.set(row.id, row);
  return after;
}
