/**
 * The part of Express's response that functions with whole requests may use, sent by frames. A response that is sent as a whole is
 * one message.
 */
import { EventEmitter } from 'node:events';
import { validateHeaderName, validateHeaderValue } from '@cairn/local-kit/http/node-http';
import { encode, type Headers } from './messages.ts';

/** The call of the frame server that the response answers. */
export interface AnsweredCall extends EventEmitter {
  write(message: Uint8Array): boolean;
  end(): void;
}

const NOTHING = Buffer.alloc(0);
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);
/** gRPC's UNKNOWN: the answer is incomplete. */
const CUT = 2;
/** Bytes of a body in one message, far below the limit of a frame. */
const MAX_PIECE_BYTES = 16 * 1024 * 1024;

export class WholeResponse extends EventEmitter {
  readonly #call: AnsweredCall;
  readonly #isHead: boolean;
  readonly #headers: Record<string, Headers[string]> = {};
  statusCode = 200;
  headersSent = false;
  closed = false;

  /** @param method of the request: a response to HEAD has no body and no length */
  constructor(call: AnsweredCall, { dateMs, method }: { readonly dateMs: number; readonly method: string }) {
    super();
    this.#call = call;
    this.#isHead = method === 'HEAD';
    this.setHeader('date', new Date(dateMs).toUTCString());
    call.on('drain', () => this.emit('drain'));
    call.once('cancelled', () => this.#close());
  }

  get destroyed(): boolean {
    return this.closed;
  }

  /** @throws TypeError for an invalid header, as Node's HTTP does */
  setHeader(name: string, value: Headers[string]): this {
    validateHeaderName(name);
    for (const one of [value].flat()) validateHeaderValue(name, one as string);
    this.#headers[name.toLowerCase()] = value;
    return this;
  }

  status(code: number): this {
    this.statusCode = code;
    return this;
  }

  writeHead(status: number, headers: Headers = {}): this {
    this.statusCode = status;
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value);
    return this;
  }

  /** False: wait for `drain`. */
  write(chunk: Uint8Array): boolean {
    if (this.closed) return false;
    for (let at = 0; ; at += MAX_PIECE_BYTES) {
      const takesMore = this.#writePiece(chunk.subarray(at, at + MAX_PIECE_BYTES));
      if (at + MAX_PIECE_BYTES >= chunk.length) return takesMore;
    }
  }

  #writePiece(piece: Uint8Array): boolean {
    if (this.headersSent) return this.#call.write(piece);
    this.headersSent = true;
    return this.#call.write(encode({ status: this.statusCode, headers: this.#headers }, piece));
  }

  end(body: Uint8Array | string = NOTHING): this {
    if (this.closed) return this;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    if (!this.headersSent) {
      if (!this.#isHead && !WITHOUT_BODY.has(this.statusCode))
        this.#headers['content-length'] ??= String(bytes.length);
      this.write(bytes);
    } else if (bytes.length > 0) this.write(bytes);
    this.#call.end();
    this.#close();
    return this;
  }

  /** Like Express: text is HTML, everything else JSON. */
  send(body?: unknown): this {
    if (body === undefined) return this.end();
    const isText = typeof body === 'string';
    this.setHeader('content-type', `${isText ? 'text/html' : 'application/json'}; charset=utf-8`);
    return this.end(isText ? body : JSON.stringify(body));
  }

  /** Aborts the response: the client sees that it is incomplete. */
  destroy(): this {
    if (this.closed) return this;
    this.#call.emit('error', { code: CUT, details: 'the function cut its answer' });
    this.#close();
    return this;
  }

  #close(): void {
    if (this.closed) return;
    this.closed = true;
    // Deferred like by Node's HTTP response, so that a listener can be added after the end.
    process.nextTick(() => this.emit('close'));
  }
}
