/**
 * A response of server-sent events, produced as its reader consumes them. A stream ends before the time limit of a
 * request, and readers reconnect.
 */

import type { FollowBounds } from '../../../operations/follow/watch-reports.ts';
import type { OperationName } from '../../openapi/paths/all.ts';
import type { RouteCall } from '../../route.ts';

/** Longest silence of a stream: proxies close streams that are silent for half a minute or more. */
export const HEARTBEAT_MS = 15_000;
/** Longest stream. The deployed function and Hosting end requests after 60 s. */
export const STREAM_MS = 50_000;
/** Heartbeat of a stream without events. */
export const QUIET = ': quiet\n\n';
/** Reconnect delay of clients, ms. */
const RETRY_MS = 1_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies must not cache, compress or buffer the stream.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

export interface Frame {
  /** Id of the last event received, for reconnecting. */
  readonly id?: number | string;
  readonly event: string;
  /** Sent as JSON. */
  readonly data: unknown;
}

export function frameText({ id, event, data }: Frame): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

interface EventStream<T> {
  readonly source: AsyncGenerator<T>;
  readonly frame: (one: T) => string;
  /** Called once, for any end of the stream. */
  readonly onEnd: () => void;
  /** Called when the reader disconnects. */
  readonly onCancel: () => void;
  readonly onError: (error: unknown) => void;
}

interface Streaming<T> {
  readonly onlyNow: boolean;
  readonly follow: (bounds: FollowBounds) => AsyncGenerator<T>;
  readonly frame: (one: T) => string;
  /** Logged if the stream breaks. */
  readonly about: object;
}

/** The stream takes one of the tenant's places while it lasts. HEAD gets the headers of GET. */
export function answerStream<T>(
  {
    deps,
    instance,
    caller,
    request,
  }: Pick<RouteCall<OperationName>, 'deps' | 'instance' | 'caller' | 'request'>,
  { onlyNow, follow, frame, about }: Streaming<T>,
): Response {
  if (request.method === 'HEAD') return new Response(null, { headers: HEADERS });
  const leave = instance.places.take(caller.tenantId);
  const { clock, log } = deps;
  const disconnected = new AbortController();
  const source = follow({
    onlyNow,
    quietMs: HEARTBEAT_MS,
    until: clock.now() + STREAM_MS,
    signal: AbortSignal.any([disconnected.signal, deps.shutdown]),
  });
  return streamAnswer({
    source,
    frame,
    onEnd: leave,
    onCancel: () => disconnected.abort(),
    onError: (error) => log.warn('stream_broken', { ...about, error }),
  });
}

/** Takes the next item only when the reader is ready, so that nothing accumulates for a slow reader. */
export function streamAnswer<T>({ source, frame, onEnd, onCancel, onError }: EventStream<T>): Response {
  const encoder = new TextEncoder();
  let isGone = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
    },
    async pull(controller) {
      try {
        const { done, value } = await source.next();
        // The reader disconnected during the wait. `cancel` has ended the stream, which cannot be closed again.
        if (isGone) return;
        if (!done) {
          controller.enqueue(encoder.encode(frame(value)));
          return;
        }
        controller.close();
      } catch (error) {
        if (isGone) return;
        // The stream is broken off, not closed, so that the client reconnects.
        onError(error);
        controller.error(error);
      }
      onEnd();
    },
    async cancel() {
      isGone = true;
      onCancel();
      onEnd();
      await source.return(undefined);
    },
  });
  return new Response(body, { headers: HEADERS });
}
