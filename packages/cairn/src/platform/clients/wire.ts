/**
 * Fast connection to the servers of the local cloud that runs this process: gRPC calls with one request as frames on one connection. Messages
 * and statuses are the same, without the cost of HTTP/2 per call. It is used only if the local cloud sets `CAIRN_WIRE_HOSTS` for its workers;
 * all other processes use gRPC. `packages/local-kit/src/wire/frames.ts`, at the other end, describes the frames.
 *
 * Must not: repeat a call. A call whose connection ended may have been applied, and fails as in gRPC: UNAVAILABLE.
 */
import { connect, type Socket } from 'node:net';
import type { CancelTimer, Clock } from '../../ports/clock.ts';
import { GRPC_STATUS } from '../../ports/grpc-outcome.ts';
import { systemClock } from '../clock.ts';

const PREFACE = Buffer.from('CWIRE1\n');
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;
/** Call number and status. */
const LEAST_ANSWER_BYTES = 5;
/** Call number, path length, and the longest path. */
const MAX_HEAD_BYTES = 5 + 255;
const NOTHING = Buffer.alloc(0);
/** In place of a status: a message of a stream that continues. */
const MORE = 255;
const MAX_CALL_ID = 0xffff_ffff;

/** An error in the form that the client libraries throw. */
class WireError extends Error {
  readonly code: number;
  readonly details: string;

  constructor(code: number, details: string) {
    super(`${code}: ${details}`);
    this.code = code;
    this.details = details;
  }
}

/** A complete response: the messages of a stream, then the message of a unary call. */
interface WholeAnswer {
  readonly messages: readonly Buffer[];
  readonly last: Buffer;
}

/** A call that waits for its response. */
interface PendingCall {
  onMessage(message: Buffer): void;
  onAnswer(last: Buffer): void;
  onFailure(error: WireError): void;
}

interface WireListener {
  onMessage(message: Buffer): void;
  /** Called when the server ended the call or the connection is lost. Not called after the caller ended it. */
  onEnd(error: WireError): void;
}

export class Wire {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #calls = new Map<number, PendingCall>();
  #socket: Socket | undefined;
  #lastId = 0;

  /** @param host `127.0.0.1:port` */
  constructor(host: string, clock: Clock = systemClock) {
    this.#host = host;
    this.#clock = clock;
  }

  /**
   * @param path of the method: `/google.firestore.v1.Firestore/Commit`
   * @throws WireError with the status of the response; DEADLINE_EXCEEDED after `timeoutMs`; UNAVAILABLE if the connection ends, or cannot be opened
   */
  async call(path: string, request: Uint8Array, timeoutMs: number): Promise<Buffer> {
    return (await this.#send(path, request, timeoutMs)).last;
  }

  /**
   * Returns the messages of a streaming method once the stream has ended.
   *
   * @throws WireError as {@link call} does, even if messages came before the failure
   */
  async stream(path: string, request: Uint8Array, timeoutMs: number): Promise<readonly Buffer[]> {
    return (await this.#send(path, request, timeoutMs)).messages;
  }

  /**
   * Reports messages of a method that watches changes, without a deadline.
   *
   * @returns function that ends the call
   */
  listen(path: string, request: Uint8Array, { onMessage, onEnd }: WireListener): () => void {
    const ended = () => onEnd(new WireError(GRPC_STATUS.UNAVAILABLE, `${this.#host}: the stream was ended`));
    const id = this.#begin(path, request, { onMessage, onAnswer: ended, onFailure: onEnd });
    return () => {
      if (!this.#calls.delete(id)) return;
      if (this.#socket) this.#write(this.#socket, id, '', NOTHING);
      this.#rest();
    };
  }

  #send(path: string, request: Uint8Array, timeoutMs: number): Promise<WholeAnswer> {
    const length = request.length + MAX_HEAD_BYTES;
    if (length > MAX_FRAME_BYTES) {
      const details = `a request of ${request.length} bytes is larger than a frame may be (${MAX_FRAME_BYTES})`;
      return Promise.reject(new WireError(GRPC_STATUS.INVALID_ARGUMENT, details));
    }
    return new Promise((resolve, reject) => {
      const messages: Buffer[] = [];
      const id = this.#begin(path, request, {
        onMessage: (message) => messages.push(message),
        onAnswer(last) {
          cancelDeadline();
          resolve({ messages, last });
        },
        onFailure(error) {
          cancelDeadline();
          reject(error);
        },
      });
      const cancelDeadline: CancelTimer = this.#clock.timer(timeoutMs, () => {
        this.#calls.delete(id);
        this.#rest();
        reject(new WireError(GRPC_STATUS.DEADLINE_EXCEEDED, `no answer within ${timeoutMs} ms`));
      });
    });
  }

  #begin(path: string, request: Uint8Array, call: PendingCall): number {
    const socket = this.#connected();
    const id = this.#freshId();
    this.#calls.set(id, call);
    socket.ref();
    this.#write(socket, id, path, request);
    return id;
  }

  #write(socket: Socket, id: number, path: string, request: Uint8Array): void {
    const pathBytes = Buffer.byteLength(path, 'latin1');
    const head = Buffer.allocUnsafe(LENGTH_BYTES + 5 + pathBytes);
    head.writeUInt32LE(5 + pathBytes + request.length, 0);
    head.writeUInt32LE(id, 4);
    head.writeUInt8(pathBytes, 8);
    head.write(path, 9, 'latin1');
    // Calls of one turn of the event loop are sent together.
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    socket.write(head);
    socket.write(request);
  }

  #freshId(): number {
    do this.#lastId = this.#lastId >= MAX_CALL_ID ? 1 : this.#lastId + 1;
    while (this.#calls.has(this.#lastId));
    return this.#lastId;
  }

  /** Connects again at the first call after a connection ended. */
  #connected(): Socket {
    if (this.#socket) return this.#socket;
    const colon = this.#host.lastIndexOf(':');
    const socket = connect({
      host: this.#host.slice(0, colon),
      port: Number(this.#host.slice(colon + 1)),
      noDelay: true,
    });
    this.#socket = socket;
    const frames = new AnswerReader();
    const orLost = (work: () => void) => {
      try {
        work();
      } catch (error) {
        socket.destroy(error as Error);
      }
    };
    const arrived = new ArrivedFrames((frame) => orLost(() => this.#answerCall(frame)));
    socket.write(PREFACE);
    socket.on('data', (piece) => orLost(() => arrived.add(frames.read(piece))));
    let why = 'the connection was closed';
    socket.once('error', (error) => {
      why = error.message;
    });
    socket.once('close', () => {
      arrived.takeAll();
      this.#connectionLost(socket, why);
    });
    return socket;
  }

  #answerCall(frame: Buffer): void {
    const id = frame.readUInt32LE(0);
    const call = this.#calls.get(id);
    // The deadline of the call has passed.
    if (!call) return;
    const code = frame.readUInt8(4);
    const payload = frame.subarray(5);
    if (code === MORE) {
      call.onMessage(payload);
      return;
    }
    this.#calls.delete(id);
    if (code === 0) call.onAnswer(payload);
    else call.onFailure(new WireError(code, payload.toString()));
    this.#rest();
  }

  #connectionLost(socket: Socket, why: string): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    const pending = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of pending)
      call.onFailure(new WireError(GRPC_STATUS.UNAVAILABLE, `${this.#host}: ${why}`));
  }

  /** A connection without calls does not keep the process alive. */
  #rest(): void {
    if (this.#calls.size === 0) this.#socket?.unref();
  }
}

const wires = new Map<string, Wire>();

/** The connection to a server that serves frames; undefined for all others. A process has one per server. */
export function wireTo(host: string | undefined, served: ReadonlySet<string>): Wire | undefined {
  if (host === undefined || !served.has(host)) return undefined;
  let wire = wires.get(host);
  if (!wire) {
    wire = new Wire(host);
    wires.set(host, wire);
  }
  return wire;
}

/**
 * Passes on each response in a separate turn of the event loop. Requests that its caller then sends leave immediately, and the server
 * handles them while this process handles the next response. Otherwise each of the two would be idle while the other works.
 */
class ArrivedFrames {
  readonly #take: (frame: Buffer) => void;
  #frames: readonly Buffer[] = [];
  #next = 0;

  constructor(take: (frame: Buffer) => void) {
    this.#take = take;
  }

  add(frames: readonly Buffer[]): void {
    if (frames.length === 0) return;
    const isResting = this.#next === this.#frames.length;
    this.#frames = isResting ? frames : [...this.#frames.slice(this.#next), ...frames];
    this.#next = 0;
    if (isResting) this.#takeAnswer();
  }

  /** Passes on all responses now. */
  takeAll(): void {
    while (this.#next < this.#frames.length) this.#takeOne();
  }

  #takeAnswer(): void {
    // The messages of a stream belong to the response that ends it.
    while (this.#next < this.#frames.length && this.#takeOne() === MORE);
    if (this.#next < this.#frames.length) setImmediate(() => this.#takeAnswer());
  }

  /** @returns the status of the frame, or {@link MORE} */
  #takeOne(): number {
    const frame = this.#frames[this.#next] as Buffer;
    this.#next += 1;
    this.#take(frame);
    return frame.readUInt8(4);
  }
}

/** A copy of the one in `frames.ts` of the local servers, on which this package must not depend. */
class AnswerReader {
  #pieces: Buffer[] = [];
  #held = 0;
  #wanted = LENGTH_BYTES;

  read(piece: Buffer): Buffer[] {
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held < this.#wanted) return [];
    const bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    const frames: Buffer[] = [];
    let at = 0;
    for (;;) {
      this.#wanted = LENGTH_BYTES;
      if (bytes.length - at < LENGTH_BYTES) break;
      const length = bytes.readUInt32LE(at);
      if (length > MAX_FRAME_BYTES || length < LEAST_ANSWER_BYTES)
        throw new Error(`an answer of ${length} bytes was announced`);
      this.#wanted = LENGTH_BYTES + length;
      if (bytes.length - at < this.#wanted) break;
      frames.push(bytes.subarray(at + LENGTH_BYTES, at + this.#wanted));
      at += this.#wanted;
    }
    this.#pieces = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#held = bytes.length - at;
    return frames;
  }
}
