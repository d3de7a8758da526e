/** A request to a worker and the receiver of its answer, independent of the transport. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { WorkerLease } from '../workers/worker-lease.ts';

export interface RequestLine {
  /** Name of the function. */
  readonly name: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

/** The body of a request: complete, or a stream. */
export type RequestBody = Uint8Array | Readable;

export interface ResponseReceiver {
  onHead(status: number, headers: OutgoingHttpHeaders): void;
  /** False: pause until the request is resumed. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  /** The response is incomplete. */
  onFailure(reason: string): void;
}

export interface OutgoingRequest {
  readonly lease: WorkerLease;
  readonly line: RequestLine;
  readonly body: RequestBody;
  readonly receiver: ResponseReceiver;
}

export interface InFlightRequest {
  abort(): void;
  resume(): void;
}

/** Aborts or resumes a request at the worker to which it was sent last. */
export class RequestHandle implements InFlightRequest {
  readonly #abortion = new AbortController();
  #sent: InFlightRequest | undefined;

  /** Ends any wait for a worker, including later ones after a worker did not take the request. */
  get signal(): AbortSignal {
    return this.#abortion.signal;
  }

  get isAborted(): boolean {
    return this.signal.aborted;
  }

  use(sent: InFlightRequest): void {
    this.#sent = sent;
    if (this.isAborted) sent.abort();
  }

  abort(): void {
    // A string, because the default reason is an error, whose stack costs time for each request.
    this.#abortion.abort('aborted');
    this.#sent?.abort();
  }

  resume(): void {
    this.#sent?.resume();
  }
}
