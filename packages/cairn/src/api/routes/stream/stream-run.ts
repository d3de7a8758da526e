/**
 * `GET /v1/runs/{id}/stream`: the events of a run as server-sent events. `id` is the sequence number, `event` the type,
 * `data` as in the list of events; `event: end` is the last. A stream ends before the time limit of a request: readers
 * reconnect with `Last-Event-ID` and miss nothing.
 */
import { type CairnError, invalidInput } from '../../../core/errors.ts';
import { projectStatus, type Vocabulary } from '../../../core/run/vocabulary.ts';
import { type FollowedRun, followRun } from '../../../operations/follow/follow-run.ts';
import type { ReadHandler } from '../../route.ts';
import { eventView } from '../../views/documents.ts';
import { ownRun } from '../own-run.ts';
import { answerStream, frameText, QUIET } from './server-sent.ts';

const SEQ = /^\d{1,10}$/;

export const streamRun: ReadHandler<'GET /v1/runs/{id}/stream'> = async (call) => {
  const { deps, request, query } = call;
  const runId = call.params.id;
  const from = lastSeen(request.headers, query.after);
  const { after } = from;
  const { vocabulary } = query;
  const { state } = await ownRun(call);
  if (after > state.head) throw invalidSeq(from.field, `the run has only ${state.head} events`);
  const { store, clock } = deps;
  const { status, stopKind } = state;
  return answerStream(call, {
    onlyNow: !query.follow,
    follow: (bounds) =>
      followRun({ store, watch: deps.watch, clock }, { runId, after, status, stopKind, ...bounds }),
    frame: (one) => frame(one, vocabulary),
    about: { runId },
  });
};

/** The header of a reconnecting client takes precedence over the original URL. */
function lastSeen(
  headers: Headers,
  after: string | undefined,
): { readonly after: number; readonly field: string } {
  const header = headers.get('last-event-id');
  const field = header === null ? 'after' : 'Last-Event-ID';
  const seen = header ?? after ?? '0';
  if (!SEQ.test(seen)) throw invalidSeq(field, 'it must be the sequence number of an event, or 0');
  return { after: Number(seen), field };
}

function invalidSeq(field: string, why: string): CairnError {
  return invalidInput(field, `the start position of the stream is invalid: ${why}`);
}

/** `vocabulary` applies to the status in the last event; other events are as in the journal. */
function frame(followed: FollowedRun, vocabulary: Vocabulary): string {
  switch (followed.kind) {
    case 'quiet':
      return QUIET;
    case 'ended':
      return frameText({ event: 'end', data: { status: projectStatus(followed, vocabulary) } });
    case 'event': {
      const { event } = followed;
      return frameText({ id: event.seq, event: event.type, data: eventView(event) });
    }
  }
}
