/** Pages over the lines that the bodies of a run logged. */
import { isWanted, type LogFilter } from '../core/logs/filter.ts';
import type { LogLine } from '../core/logs/line.ts';
import { type LogPlace, linesAfter } from '../core/logs/segment.ts';
import { isLogLine } from '../core/logs/text.ts';
import { decodeCursor, encodeCursor } from '../core/search/cursor.ts';
import { PageRoom } from '../core/search/page.ts';
import type { Page, PageRequest } from '../ports/run-store.ts';
import type { LogStore } from '../ports/runs/log-store.ts';

/** Documents read at once. A run that logs steadily has a few lines in each. */
const SEGMENTS_AT_ONCE = 50;
/** Documents that one page reads if a filter matches few lines. The page then has a `next` and may be empty. */
const MAX_SEGMENTS_A_PAGE = 500;

interface RunLogPage extends Page<LogLine> {
  /** Cursor for lines that are added later; absent: no line exists yet. */
  readonly after?: string | undefined;
}

export async function listLogs(
  store: LogStore,
  runId: string,
  { filter, page }: { readonly filter: LogFilter; readonly page: PageRequest },
): Promise<RunLogPage> {
  const room = new PageRoom(page.limit);
  const items: LogLine[] = [];
  const cursorAt = (place: LogPlace) => encodeCursor('logs', place);
  let place: LogPlace | undefined = page.cursor === undefined ? undefined : decodeCursor('logs', page.cursor);
  for (let read = 0; ; ) {
    const segments = await store.readLogs(runId, place?.[1], SEGMENTS_AT_ONCE);
    for (const { line, after } of linesAfter(place, segments)) {
      if (isLogLine(line) && isWanted(line, filter)) {
        if (!room.take(line)) {
          const next = cursorAt(place ?? [0, after[1]]);
          return { items, next, after: next };
        }
        items.push(line);
      }
      place = after;
    }
    read += segments.length;
    const after = place && cursorAt(place);
    if (segments.length < SEGMENTS_AT_ONCE) return { items, after };
    if (read >= MAX_SEGMENTS_A_PAGE && after !== undefined) return { items, next: after, after };
  }
}
