/** Pages over the lines that the bodies of a run logged. */
import { KEPT_LEVELS, type KeptLevel, type LogLine } from '../core/logs/line.ts';
import { stepIdOf } from '../core/run/state.ts';
import { PageRoom } from '../core/search/page.ts';
import { decodeCursor, encodeCursor, type Position } from '../ports/cursor.ts';
import type { Page, PageRequest } from '../ports/run-store.ts';
import type { LogStore } from '../ports/runs/log-store.ts';

/** Documents read at once: of a run that logs steadily each has a few lines. */
const SEGMENTS_AT_ONCE = 50;
/** Documents that one page looks through, where a filter passes most lines over. The page then has a `next` and may be empty. */
export const MAX_SEGMENTS_A_PAGE = 500;

export interface LogFilter {
  /** Key of a step, or its id: then with its items. */
  readonly step?: string | undefined;
  /** Lines of lower levels are passed over. */
  readonly level?: KeptLevel | undefined;
}

export interface LogPage extends Page<LogLine> {
  /** Cursor for lines that are added later; absent: there is none yet. */
  readonly after?: string;
}

export async function listLogs(
  store: LogStore,
  runId: string,
  { filter, page }: { readonly filter: LogFilter; readonly page: PageRequest },
): Promise<LogPage> {
  const room = new PageRoom(page.limit);
  const items: LogLine[] = [];
  const at = (place: Position) => encodeCursor('logs', place);
  // The number of lines of a document that were passed, and its id.
  let place: Position | undefined = page.cursor === undefined ? undefined : decodeCursor('logs', page.cursor);
  for (let read = 0; ; ) {
    const segments = await store.readLogs(runId, place?.[1], SEGMENTS_AT_ONCE);
    for (const { id, lines } of segments) {
      const passed = place?.[1] === id ? place[0] : 0;
      for (const [index, line] of lines.entries()) {
        if (index < passed) continue;
        if (isWanted(line, filter) && !room.take(line)) {
          const next = at(place ?? [0, id]);
          return { items, next, after: next };
        }
        if (isWanted(line, filter)) items.push(line);
        place = [index + 1, id];
      }
    }
    read += segments.length;
    const after = place && at(place);
    if (segments.length < SEGMENTS_AT_ONCE) return { items, ...(after === undefined ? {} : { after }) };
    if (read >= MAX_SEGMENTS_A_PAGE && after !== undefined) return { items, next: after, after };
  }
}

function isWanted(line: LogLine, { step, level }: LogFilter): boolean {
  if (step !== undefined && line.step !== step && stepIdOf(line.step) !== step) return false;
  return level === undefined || KEPT_LEVELS.indexOf(line.level) >= KEPT_LEVELS.indexOf(level);
}
