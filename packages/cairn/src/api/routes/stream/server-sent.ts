/**
 * A response of server-sent events, produced as its reader consumes them. A stream is shorter than the time limit of a
 * request: readers reconnect.
 */

import type { FollowBounds } from '../../../operations/follow/watch-reports.ts';
import type { OperationName } from '../../openapi/paths/all.ts';
import type { RouteCall } from '../../route.ts';

/** Longest silence of a stream: proxies cut streams that are silent for half a minute or more. */
export const HEARTBEAT_MS = 15_000;
/** Below the 60 s that a request of the deployed function, and one through Hosting, may take. */
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
  /** To be JSON. */
  readonly data: unknown;
}

export function frameText({ id, event, data }: Frame): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

interface EventStream<T> {
  readonly source: AsyncGenerator<T>;
  readonly frame: (one: T) => string;
  /** Called once, however the stream ends. */
  readonly onEnd: () => void;
  /** The reader has disconnected. */
  readonly onCancel: () => void;
  readonly onError: (error: unknown) => void;
}

interface Streaming<T> {
  readonly onlyNow: boolean;
  readonly follow: (bounds: FollowBounds) => AsyncGenerator<T>;
  readonly frame: (one: T) => string;
  /** For the log of a stream that breaks. */
  readonly about: object;
}

/** Takes one of the tenant's places while the stream lasts. HEAD is answered with the headers of GET. */
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

/** Takes the next item only when the reader is ready: nothing accumulates for a slow reader. */
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
        // The reader disconnected during the wait: nothing can be closed any more, and `cancel` has ended the stream.
        if (isGone) return;
        if (!done) {
          controller.enqueue(encoder.encode(frame(value)));
          return;
        }
        controller.close();
      } catch (error) {
        if (isGone) return;
        // The stream is cut, not ended, so that the client reconnects.
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
