/**
 * Applies the events of the stream to the newest rows of the list. Pure.
 *
 * The stream reports only the newest `limit` matching runs. A run that is `gone` was either pushed out by newer ones, and
 * stays in the list, or no longer matches. After all events of a batch are applied, a gone run counts as pushed out only if
 * the stream is full and the run is older than all its runs.
 */
import { byAge, type RunRow } from '../row.ts';

export type LiveHeadEvent =
  | { readonly kind: 'run'; readonly row: RunRow }
  | { readonly kind: 'gone'; readonly id: string }
  /** The initial rows are complete. */
  | { readonly kind: 'ready' };

/** Current content of the stream. */
export interface Live {
  readonly rows: ReadonlyMap<string, RunRow>;
  /** The initial rows since the start or restart are complete. */
  readonly isReady: boolean;
}

export const NOTHING_LIVE: Live = { rows: new Map(), isReady: false };

export function liveAfter(live: Live, events: readonly LiveHeadEvent[]): Live {
  const rows = new Map(live.rows);
  let { isReady } = live;
  for (const one of events) {
    if (one.kind === 'run') rows.set(one.row.id, one.row);
    else if (one.kind === 'gone') rows.delete(one.id);
    else isReady = true;
  }
  return { rows, isReady };
}

export interface Head {
  /** Newest first, without a gap. */
  readonly rows: readonly RunRow[];
  /** Runs are missing between these rows and the stream: the rows must be read again. */
  readonly hasGap: boolean;
}

/**
 * Applies the content of the stream to the rows.
 *
 * @param limit number of runs with which the stream is full
 */
export function headAfter(rows: readonly RunRow[], live: Live, limit: number): Head {
  if (!live.isReady) {
    // Live rows are newer than read ones; rows without a live update may still be current.
    const known = new Map(rows.map((row) => [row.id, row]));
    for (const row of live.rows.values()) if (known.has(row.id)) known.set(row.id, row);
    return { rows: [...known.values()], hasGap: false };
  }
  const events = [...live.rows.values()].sort(byAge);
  const oldest = events.at(-1);
  const isFull = events.length >= limit;
  const older = isFull && oldest ? rows.filter((row) => byAge(oldest, row) < 0) : [];
  const overlaps = rows.length === 0 || rows.some((row) => live.rows.has(row.id));
  return { rows: [...events, ...older], hasGap: isFull && !overlaps };
}
