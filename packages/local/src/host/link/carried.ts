/** A request on its way to a worker and the receiver of its answer, whatever carries them. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { WorkerLease } from '../workers/lease.ts';

export interface RequestLine {
  /** Name of the function. */
  readonly name: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

/** The body of a request: in hand, or to be read. */
export type RequestBody = Uint8Array | Readable;

export interface AnswerReceiver {
  onHead(status: number, headers: OutgoingHttpHeaders): void;
  /** False: it takes no more until the request is resumed. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  /** Nothing follows. What has arrived is not whole. */
  onFailure(reason: string): void;
}

export interface Sending {
  readonly lease: WorkerLease;
  readonly line: RequestLine;
  readonly body: RequestBody;
  readonly receiver: AnswerReceiver;
}

export interface CarriedRequest {
  abort(): void;
  resume(): void;
}

/** Holds what carries a request at the moment: a worker that does not take it has it sent to another. */
export class Carriage implements CarriedRequest {
  #sent: CarriedRequest | undefined;
  isAborted = false;

  carriedBy(sent: CarriedRequest): void {
    this.#sent = sent;
    if (this.isAborted) sent.abort();
  }

  abort(): void {
    this.isAborted = true;
    this.#sent?.abort();
  }

  resume(): void {
    this.#sent?.resume();
  }
}
