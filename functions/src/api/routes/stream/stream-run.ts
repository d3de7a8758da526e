/**
 * `GET /v1/runs/{id}/stream`: the events of a run as they happen, as server-sent events. `id` is the seq, `event` the
 * type, `data` what the list of events shows; `event: end` says that the run has ended and there is no more. A stream is
 * shorter than the time a request may take: whoever reads it comes back with `Last-Event-ID` and misses nothing.
 */
import { CairnError } from '../../../core/errors.ts';
import { projectStatus, type Vocabulary } from '../../../core/run/vocabulary.ts';
import { type Followed, followRun } from '../../../operations/follow-run.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { readQuery, vocabularyOf } from '../../query.ts';
import { eventView } from '../../views/documents.ts';
import { ownRun, type RunAddress } from '../read-runs.ts';
import type { StreamPlaces } from './places.ts';

/** How long a stream may be silent: proxies cut what is silent for half a minute or more. */
export const HEARTBEAT_MS = 15_000;
/** Below the 60 s that a request of the deployed function, and one through Hosting, may take. */
export const STREAM_MS = 50_000;
/** How long a client waits before it comes back, ms. */
const RETRY_MS = 1_000;

const SEQ = /^\d{1,10}$/;
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // No proxy may keep, compress or gather what is to be seen at once.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

export interface StreamAddress extends RunAddress {
  readonly request: Request;
  /** Of this instance. */
  readonly places: StreamPlaces;
}

export async function streamRun(deps: ApiDeps, caller: Caller, address: StreamAddress): Promise<Response> {
  const { request, runId, places } = address;
  const query = readQuery(address.url, ['after', 'vocabulary']);
  const after = lastSeen(request.headers, query.after);
  const vocabulary = vocabularyOf(query);
  assertRole(caller, 'viewer');
  const { state } = await ownRun(deps.start.store, caller, runId);
  if (after > state.head) throw invalidSeq(`the run has ${state.head} events only`);
  if (request.method === 'HEAD') return new Response(null, { headers: HEADERS });
  const leave = places.take(caller.tenantId);
  const { store, clock, log } = deps.start;
  const gone = new AbortController();
  const followed = followRun(
    { store, watch: deps.watch, clock },
    {
      runId,
      after,
      status: state.status,
      stopKind: state.stopKind,
      quietMs: HEARTBEAT_MS,
      until: clock.now() + STREAM_MS,
      signal: AbortSignal.any([gone.signal, deps.shutdown]),
    },
  );
  const body = streamOf(followed, {
    vocabulary,
    onEnd: leave,
    onCancel: () => gone.abort(),
    onError: (error) => log.warn('stream_broken', { runId, error }),
  });
  return new Response(body, { headers: HEADERS });
}

/** The header of a client that comes back counts more than the address it began with. */
function lastSeen(headers: Headers, after: string | undefined): number {
  const seen = headers.get('last-event-id') ?? after ?? '0';
  if (!SEQ.test(seen)) throw invalidSeq('it must be the seq of an event, or 0');
  return Number(seen);
}

function invalidSeq(why: string): CairnError {
  return new CairnError('INVALID_INPUT', `the stream cannot begin there: ${why}`, { field: 'Last-Event-ID' });
}

interface StreamOptions {
  /** Of the status at its end; events are told as they are in the journal. */
  readonly vocabulary: Vocabulary;
  /** Called once, however the stream ends. */
  readonly onEnd: () => void;
  readonly onCancel: () => void;
  readonly onError: (error: unknown) => void;
}

/** Takes the next only when the reader wants it: who reads slowly makes nothing pile up here. */
function streamOf(
  followed: AsyncGenerator<Followed>,
  { vocabulary, onEnd, onCancel, onError }: StreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
    },
    async pull(controller) {
      try {
        const { done, value } = await followed.next();
        if (!done) {
          controller.enqueue(encoder.encode(frame(value, vocabulary)));
          return;
        }
        controller.close();
      } catch (error) {
        // Cut, not ended: the client comes back.
        onError(error);
        controller.error(error);
      }
      onEnd();
    },
    async cancel() {
      onCancel();
      onEnd();
      await followed.return(undefined);
    },
  });
}

function frame(followed: Followed, vocabulary: Vocabulary): string {
  switch (followed.kind) {
    case 'quiet':
      return ': quiet\n\n';
    case 'ended':
      return `event: end\ndata: ${JSON.stringify({ status: projectStatus(followed, vocabulary) })}\n\n`;
    case 'event': {
      const { event } = followed;
      return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(eventView(event))}\n\n`;
    }
  }
}
