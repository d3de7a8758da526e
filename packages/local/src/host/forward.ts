/**
 * Sends a request to a function on a worker, with the function's timeout. Owns the choice between the link to a worker and HTTP.
 * Used for requests of clients, which are streamed, and for dispatches of the queue, whose body is complete.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Agent } from '@cairn/local-kit/http/node-http';
import { refuse } from '@cairn/local-kit/http/problem';
import type { DispatchRequest, DispatchResult } from '@cairn/local-tasks/attempt';
import type { FunctionSpec } from './function-spec.ts';
import { MAX_WHOLE_BYTES, repeatableAfterMs } from './link/messages.ts';
import { type RequestBody, RequestHandle, type RequestLine, type ResponseReceiver } from './link/request.ts';
import { sendByHttp } from './link/send-by-http.ts';
import { type NotTaken, sendByLink } from './link/send-by-link.ts';
import { MAX_BODY_BYTES } from './request-shape.ts';
import { type Acquiring, NoWorkerError, type WorkerLease } from './workers/worker-lease.ts';
import type { WorkerPool } from './workers/worker-pool.ts';

const NOTHING = Buffer.alloc(0);
/** As the queue spells it; headers of callers are in lower case. */
const QUEUE_NAME = 'X-CloudTasks-QueueName';
/** After this many moves a request stays with its worker, because the machine is too busy for any worker to be in time. */
const MOST_MOVES = 3;
/** Count of each reason towards {@link MOST_MOVES}. A request that may itself have ended its worker is repeated once. */
const MOVES: Readonly<Record<NotTaken, number>> = {
  blocked: 1,
  died: MOST_MOVES,
  ending: 0,
  late: 1,
  unserved: 0,
};
const ABORTED = 'the request was aborted';
const TIMEOUT = 'upstream request timeout';
const HOP_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // The server has already answered `expect`.
  'expect',
];

interface ForwardOptions {
  /** The workers that currently serve. */
  readonly pool: () => Pick<WorkerPool, 'acquire'>;
}

/** A request as the client sent it, to be answered on `response`. */
interface Forwarded {
  readonly spec: FunctionSpec;
  /** Path and query for the function. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface ForwardedRequest {
  readonly spec: FunctionSpec;
  readonly line: RequestLine;
  readonly body: RequestBody;
  /** False if the body is encoded or too large for frames. */
  readonly isWhole: boolean;
  /** Number of workers that did not take the request in time; default: 0. */
  readonly moves?: number;
  readonly receiver: ResponseReceiver;
  readonly handle: RequestHandle;
}

export class Forwarder {
  readonly #pool: ForwardOptions['pool'];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, scheduling: 'lifo' });

  constructor({ pool }: ForwardOptions) {
    this.#pool = pool;
  }

  /** Forwards the request and its response. Answers every failure; never throws. */
  async forward({ spec, path, headers, request: incoming, response }: Forwarded): Promise<void> {
    if (Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
      refuse(response, 413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
      return;
    }
    const handle = new RequestHandle();
    let cancel = () => {};
    response.once('close', () => {
      cancel();
      handle.abort();
    });
    // Discards the rest of the body, which precedes the next request of the connection. Node does so only if none of it was read.
    response.once('close', () => incoming.unpipe().resume());
    // Without this header Node does not frame the body of a GET or DELETE, and its bytes would be read as the next request.
    const chunked = incoming.headers['transfer-encoding'] !== undefined;
    const failure = await this.#send({
      spec,
      line: {
        name: spec.name,
        path,
        method: incoming.method ?? 'GET',
        headers: chunked ? { ...headers, 'transfer-encoding': 'chunked' } : headers,
      },
      body: hasBody(incoming.headers) ? incoming : NOTHING,
      isWhole: isWhole(incoming.headers),
      receiver: receiverFor(response, () => handle.resume()),
      handle,
    });
    if (failure) {
      refuse(response, failure.status, failure.message);
      return;
    }
    if (response.closed) return;
    cancel = after(spec.timeoutSeconds, () => {
      refuse(response, 504, TIMEOUT);
      handle.abort();
    });
  }

  /**
   * One attempt of a task or a scheduled call. Settles when the response is complete or its worker has ended; the pool kills a
   * worker without a heartbeat.
   */
  async dispatch(spec: FunctionSpec, path: string, task: DispatchRequest): Promise<DispatchResult> {
    const { method, body, signal } = task;
    const headers = { ...task.headers, 'content-length': body.length };
    const handle = new RequestHandle();
    const settled = Promise.withResolvers<DispatchResult>();
    let answer: DispatchResult = { kind: 'unreachable', reason: 'no answer' };
    const abort = () => {
      settled.resolve({ kind: 'unreachable', reason: 'aborted by the queue' });
      handle.abort();
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const failure = await this.#send({
      spec,
      line: { name: spec.name, path, method, headers },
      body,
      isWhole: body.length <= MAX_WHOLE_BYTES,
      receiver: {
        onHead(status, { 'retry-after': after }) {
          answer = { kind: 'answered', status, retryAfter: after === undefined ? undefined : String(after) };
        },
        onData: () => true,
        onEnd: () => settled.resolve(answer),
        onFailure: (reason) => settled.resolve({ kind: 'unreachable', reason }),
      },
      handle,
    });
    if (failure) settled.resolve({ kind: 'answered', status: failure.status, retryAfter: undefined });
    const cancel = after(spec.timeoutSeconds, () => {
      settled.resolve({ kind: 'answered', status: 504, retryAfter: undefined });
      handle.abort();
    });
    const outcome = await settled.promise;
    cancel();
    signal.removeEventListener('abort', abort);
    return outcome;
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Resolves once a worker has the request, or with the reason why none has. If a worker refuses the connection, it has just died without
   * reading the request, so another worker gets it.
   */
  async #send(forwarded: ForwardedRequest): Promise<NoWorkerError | undefined> {
    const { spec, line, isWhole, moves = 0, receiver, handle } = forwarded;
    // Read before a worker is acquired, so that a slow sender does not occupy one.
    const body = await arrived(forwarded.body, spec.timeoutSeconds);
    if (body instanceof NoWorkerError) return body;
    const byFrames = isWhole && spec.takesWhole === true && body instanceof Uint8Array;
    for (;;) {
      if (handle.isAborted) return new NoWorkerError(503, ABORTED);
      const acquiring = { user: userOf(line.headers), byFrames, signal: handle.signal };
      const lease = await this.#lease(spec, acquiring);
      if (lease instanceof NoWorkerError) return lease;
      if (handle.isAborted) {
        lease.release();
        return new NoWorkerError(503, ABORTED);
      }
      const { link } = lease;
      if (byFrames && link?.isOpen) {
        const again = { ...forwarded, body };
        const notTaken = (why: NotTaken) => {
          if (handle.isAborted) return;
          const next = { ...again, isWhole: why !== 'unserved', moves: moves + MOVES[why] };
          this.#send(next).then(
            (failure) => failure && receiver.onFailure(failure.message),
            (error: unknown) => receiver.onFailure(String(error)),
          );
        };
        const isMovable = lease.isMovable && moves < MOST_MOVES;
        const mayRepeat = lease.isShared && moves < MOST_MOVES;
        const repeatAfterMs = mayRepeat ? repeatableAfterMs(line) : undefined;
        const call = { link, lease, line: measured(line, body), body, receiver };
        handle.use(sendByLink({ ...call, isMovable, repeatAfterMs, notTaken }));
        return undefined;
      }
      const sent = await sendByHttp(this.#agent, { lease, line, body, receiver });
      if (!('refused' in sent)) {
        handle.use(sent);
        return undefined;
      }
      if (sent.refused.code !== 'ECONNREFUSED') return new NoWorkerError(503, sent.refused.message);
      lease.broken();
    }
  }

  async #lease(spec: FunctionSpec, acquiring: Acquiring): Promise<WorkerLease | NoWorkerError> {
    for (;;) {
      const pool = this.#pool();
      try {
        return await pool.acquire(spec, acquiring);
      } catch (error) {
        if (!(error instanceof NoWorkerError)) throw error;
        // If the workers were replaced while the request waited, it tries the new ones.
        if (pool === this.#pool() || acquiring.signal?.aborted) return error;
      }
    }
  }
}

/** The queue of a task, or the caller. Limits per user keep one that sends many requests from delaying the others. */
function userOf(headers: OutgoingHttpHeaders): string | undefined {
  const user = headers[QUEUE_NAME] ?? headers.authorization;
  return user === undefined ? undefined : String(user);
}

/** Adds the length of a body that arrived in chunks. */
function measured(line: RequestLine, body: Uint8Array): RequestLine {
  const { 'transfer-encoding': chunked, ...headers } = line.headers;
  return chunked === undefined ? line : { ...line, headers: { ...headers, 'content-length': body.length } };
}

/** True if the body is neither encoded nor declared as large. */
function isWhole(headers: IncomingMessage['headers']): boolean {
  return (
    headers['content-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= MAX_WHOLE_BYTES
  );
}

function hasBody(headers: IncomingMessage['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Resolves with the bytes of a small body, or with the stream of a large one once more than {@link MAX_WHOLE_BYTES} have arrived.
 * Functions get complete bodies only, so waiting delays nothing.
 */
function arrived(
  body: RequestBody,
  timeoutSeconds: number,
): Promise<RequestBody | NoWorkerError> | Uint8Array {
  if (body instanceof Uint8Array) return body;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (read: RequestBody | NoWorkerError) => {
      cancel();
      body.off('data', take).off('end', end).off('error', onAbort).off('close', onAbort);
      resolve(read);
    };
    const bodySoFar = () => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= MAX_WHOLE_BYTES) return;
      body.pause();
      finish(body);
      body.unshift(bodySoFar());
    };
    const end = () => finish(bodySoFar());
    // The sender may have disconnected already; then no event follows.
    const onAbort = () => finish(new NoWorkerError(503, ABORTED));
    const cancel = after(timeoutSeconds, () => finish(new NoWorkerError(504, TIMEOUT)));
    body.on('data', take).once('end', end).once('error', onAbort).once('close', onAbort);
    if (body.destroyed) onAbort();
  });
}

function receiverFor(response: ServerResponse, resume: () => void): ResponseReceiver {
  let isFull = false;
  return {
    onHead(status, headers) {
      if (!response.headersSent) response.writeHead(status, withoutHopHeaders(headers));
    },
    onData(chunk) {
      if (response.write(chunk)) return true;
      // Chunks that still arrive after the pause are buffered too.
      if (!isFull)
        response.once('drain', () => {
          isFull = false;
          resume();
        });
      isFull = true;
      return false;
    },
    onEnd: () => response.end(),
    onFailure: (reason) => refuse(response, 503, `the function's worker failed: ${reason}`),
  };
}

export function withoutHopHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const forwarded = { ...headers };
  for (const name of HOP_HEADERS) delete forwarded[name];
  return forwarded;
}

/** Uses the machine's clock: moving the cloud's clock does not lengthen timeouts of functions. */
function after(seconds: number, fire: () => void): () => void {
  const timer = setTimeout(fire, seconds * 1_000);
  timer.unref();
  return () => clearTimeout(timer);
}
