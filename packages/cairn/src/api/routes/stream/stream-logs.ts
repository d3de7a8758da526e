/**
 * `GET /v1/runs/{id}/logs/stream`: the lines that a run logs and the text that its steps stream, as server-sent events. `id` is a
 * position, from which readers continue with `Last-Event-ID`; `event: end` is the last event.
 */
import { invalidInput } from '../../../core/errors.ts';
import { isLogLine, type StoredLine } from '../../../core/logs/text.ts';
import { iso } from '../../../core/run/readable.ts';
import { projectStatus, type Vocabulary } from '../../../core/run/vocabulary.ts';
import { decodeCursor, encodeCursor, type Position } from '../../../core/search/cursor.ts';
import { followLogs, type LogStreamItem } from '../../../operations/follow/follow-logs.ts';
import { anyPlaceOf } from '../../cursors.ts';
import type { ReadHandler } from '../../route.ts';
import { ownRun } from '../own-run.ts';
import { answerStream, frameText, QUIET } from './server-sent.ts';

export const streamLogs: ReadHandler<'GET /v1/runs/{id}/logs/stream'> = async (call) => {
  const { deps, request, query } = call;
  const { step, level, kind: sort, vocabulary } = query;
  const filter = { step, level };
  const from = lastSeen(request.headers, query.after);
  const { state } = await ownRun(call);
  const { id: runId, status, stopKind } = state;
  return answerStream(call, {
    onlyNow: !query.follow,
    follow: (bounds) => followLogs(deps, { runId, filter, sort, after: from, status, stopKind, ...bounds }),
    frame: (one) => frame(one, vocabulary),
    about: { runId },
  });
};

/** The `Last-Event-ID` of a reconnecting client takes precedence over `after`. @throws CairnError INVALID_INPUT */
function lastSeen(headers: Headers, after: string | undefined): Position | undefined {
  const header = headers.get('last-event-id');
  const seen = header ?? after;
  if (seen === undefined) return undefined;
  try {
    return decodeCursor('logs', anyPlaceOf(seen));
  } catch {
    throw invalidInput(
      header === null ? 'after' : 'Last-Event-ID',
      'the start position of the stream is invalid',
      { help: 'Use the id of an event of this stream, or `after` of a page of lines.' },
    );
  }
}

function frame(followed: LogStreamItem, vocabulary: Vocabulary): string {
  switch (followed.kind) {
    case 'quiet':
      return QUIET;
    case 'ended':
      return frameText({ event: 'end', data: { status: projectStatus(followed, vocabulary) } });
    case 'line':
      return frameText({ id: encodeCursor('logs', followed.after), ...eventOf(followed.line) });
  }
}

function eventOf(line: StoredLine): { readonly event: string; readonly data: object } {
  if (isLogLine(line)) return { event: 'log', data: { ...line, at: iso(line.at) } };
  const { kind, at, ...about } = line;
  return { event: kind, data: { at: iso(at), ...about } };
}
