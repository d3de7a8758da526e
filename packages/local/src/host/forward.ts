/**
 * Sends a request to a function on a worker and times it out as the platform would. Owns the connections to the
 * workers. Two callers: people's requests (streamed through) and the queue's dispatches (a body in hand).
 */
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http';
import { refuse } from '@cairn/local-kit/http/problem';
import type { DispatchOutcome, DispatchRequest } from '@cairn/local-tasks/attempt';
import type { FunctionSpec } from './function-spec.ts';
import { MAX_BODY_BYTES } from './request-shape.ts';
import { type Lease, NoWorkerError, type WorkerPool } from './workers/worker-pool.ts';

const HOP_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // Answered by this server already.
  'expect',
];

export interface ForwardOptions {
  /** The workers that serve at the moment. */
  readonly pool: () => WorkerPool;
}

/** A request as the client sent it, to be answered on `response`. */
export interface Forwarded {
  readonly spec: FunctionSpec;
  /** Path and query as the function is to see them. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export class Forwarder {
  readonly #pool: () => WorkerPool;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, scheduling: 'lifo' });

  constructor({ pool }: ForwardOptions) {
    this.#pool = pool;
  }

  /** Streams the request to a worker and its answer back. Every failure is answered; never throws. */
  async forward({ spec, path, headers, request: incoming, response }: Forwarded): Promise<void> {
    if (Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
      refuse(response, 413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
      return;
    }
    const gone = new AbortController();
    const leave = () => gone.abort();
    response.once('close', leave);
    // Without it Node frames no body of a GET or DELETE, and the bytes would be taken for the next request.
    const chunked = incoming.headers['transfer-encoding'] !== undefined;
    const head = {
      path,
      method: incoming.method ?? 'GET',
      headers: chunked ? { ...headers, 'transfer-encoding': 'chunked' } : headers,
    };
    const connected = await this.#connect(spec, head, gone.signal);
    // Nothing waits for a place any more, and to abort makes an error with a stack for every request.
    response.off('close', leave);
    if (connected instanceof NoWorkerError) {
      refuse(response, connected.status, connected.message);
      return;
    }
    const { outgoing } = connected;
    if (response.closed) {
      outgoing.destroy();
      return;
    }
    const cancel = after(spec.timeoutSeconds, () => {
      refuse(response, 504, 'upstream request timeout');
      outgoing.destroy();
    });
    response.once('close', () => {
      cancel();
      outgoing.destroy();
    });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, withoutHopHeaders(answer.headers));
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    outgoing.on('error', (error) => refuse(response, 503, `the function's worker failed: ${error.message}`));
    incoming.pipe(outgoing);
  }

  /**
   * One attempt of a task or a scheduled call; settles when the function's answer is complete, or its worker has ended: one
   * that gives no sign of life is killed by the pool.
   */
  async dispatch(spec: FunctionSpec, path: string, task: DispatchRequest): Promise<DispatchOutcome> {
    const head = {
      path,
      method: task.method,
      headers: { ...task.headers, 'content-length': task.body.length },
    };
    const connected = await this.#connect(spec, head, task.signal);
    if (connected instanceof NoWorkerError) {
      return { kind: 'answered', status: connected.status, retryAfter: undefined };
    }
    const { outgoing } = connected;
    return new Promise((resolve) => {
      const abort = () => outgoing.destroy(new Error('aborted by the queue'));
      const cancel = after(spec.timeoutSeconds, () => {
        settle({ kind: 'answered', status: 504, retryAfter: undefined });
        outgoing.destroy();
      });
      const settle = (outcome: DispatchOutcome) => {
        cancel();
        task.signal.removeEventListener('abort', abort);
        resolve(outcome);
      };
      task.signal.addEventListener('abort', abort, { once: true });
      outgoing.on('response', (answer) => {
        const { statusCode: status = 502, headers } = answer;
        answer.resume();
        answer.on('end', () => settle({ kind: 'answered', status, retryAfter: headers['retry-after'] }));
        answer.on('error', (error) => settle({ kind: 'unreachable', reason: error.message }));
      });
      outgoing.on('error', (error) => settle({ kind: 'unreachable', reason: error.message }));
      outgoing.end(task.body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * A request connected to a worker, nothing sent yet; it gives its place back when it is over, however it ends. A
   * worker that refuses the connection has died a moment ago: nothing was delivered, so another one is asked.
   */
  async #connect(
    spec: FunctionSpec,
    head: RequestHead,
    signal: AbortSignal,
  ): Promise<Connected | NoWorkerError> {
    for (;;) {
      const lease = await this.#lease(spec, signal);
      if (lease instanceof NoWorkerError) return lease;
      const outgoing = this.#request(spec, lease, head);
      const failure = await connectionFailure(outgoing);
      if (failure === undefined) {
        // Also when it is we who give up: asking whether the worker lives costs less than telling the cases apart.
        outgoing.once('error', lease.broken);
        return { outgoing };
      }
      if (failure.code !== 'ECONNREFUSED') return new NoWorkerError(503, failure.message);
      lease.broken();
    }
  }

  /** @throws TypeError for a path or header that HTTP cannot carry; the place is given back. */
  #request(spec: FunctionSpec, lease: Lease, { path, method, headers }: RequestHead): ClientRequest {
    try {
      const target = { agent: this.#agent, host: '127.0.0.1', port: lease.port };
      const outgoing = request({ ...target, path: `/${spec.name}${path}`, method, headers });
      outgoing.once('close', lease.release);
      return outgoing;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async #lease(spec: FunctionSpec, signal: AbortSignal): Promise<Lease | NoWorkerError> {
    for (;;) {
      const pool = this.#pool();
      try {
        return await pool.acquire(spec, signal);
      } catch (error) {
        if (!(error instanceof NoWorkerError)) throw error;
        // The workers it waited for were replaced meanwhile.
        if (pool === this.#pool() || signal.aborted) return error;
      }
    }
  }
}

interface Connected {
  readonly outgoing: ClientRequest;
}

interface RequestHead {
  readonly path: string;
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
}

/** Undefined once the connection stands; an error after that is for the listeners of the request. */
function connectionFailure(outgoing: ClientRequest): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    outgoing.once('error', resolve);
    outgoing.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => resolve(undefined));
      else resolve(undefined);
    });
  });
}

export function withoutHopHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const kept = { ...headers };
  for (const name of HOP_HEADERS) delete kept[name];
  return kept;
}

/** Uses the machine's time: moving the cloud's clock does not lengthen the work of its functions. */
function after(seconds: number, fire: () => void): () => void {
  const timer = setTimeout(fire, seconds * 1_000);
  timer.unref();
  return () => clearTimeout(timer);
}
