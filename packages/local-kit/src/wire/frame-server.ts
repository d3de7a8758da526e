/**
 * Serves gRPC calls with one request by frames (frames.ts), with the same handlers, messages and statuses as grpc-js, but without the cost
 * of HTTP/2 per call.
 *
 * Must not: depend on the meaning of calls.
 */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type {
  handleBidiStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  MethodDefinition,
  ServerDuplexStream,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  ServiceError,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { FrameReader, framed, MORE, PAUSE, PREFACE, RESUME } from './frames.ts';

/** Most concurrent calls of one connection, without listeners. At the limit the connection is not read. */
const MAX_UNDER_WAY = 1_000;
const NOTHING = Buffer.alloc(0);
/** gRPC statuses, defined here so that a worker need not load the gRPC library. */
const STATUS = { OK: 0, UNKNOWN: 2, UNIMPLEMENTED: 12, INTERNAL: 13 } as const;

type WireMethod = MethodDefinition<object, object>;

type ServedFrameCall =
  | { readonly kind: 'unary'; readonly method: WireMethod; readonly handler: handleUnaryCall<object, object> }
  | {
      readonly kind: 'stream';
      readonly method: WireMethod;
      readonly handler: handleServerStreamingCall<object, object>;
    }
  | {
      readonly kind: 'listener';
      readonly method: WireMethod;
      readonly handler: handleBidiStreamingCall<object, object>;
    };

/** As in grpc-js, the flag is set before the event. */
type FrameCall = EventEmitter & { cancelled: boolean };
type CallListener = FrameCall & { isPaused: boolean };

/** Error that a handler reports. */
type HandlerFailure = Partial<ServiceError>;

export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** Methods with a stream of requests, of which callers send only the first and then listen until they end the call. */
  readonly listeners?: readonly string[];
}

/** Takes over a connection whose next bytes are the preface. */
export type ServeFrames = (socket: Socket) => void;

export function frameServer(services: readonly ServedService[]): ServeFrames {
  const calls = new Map<string, ServedFrameCall>();
  for (const { definition, implementation, listeners = [] } of services) {
    for (const [name, method] of Object.entries(definition)) {
      const handler = implementation[name];
      const listens = listeners.includes(name);
      if (!handler || (method.requestStream && !listens)) continue;
      const kind = listens ? 'listener' : method.responseStream ? 'stream' : 'unary';
      calls.set(method.path, { kind, method, handler } as ServedFrameCall);
    }
  }
  return (socket) => new FrameConnection(socket, calls);
}

class FrameConnection {
  readonly #socket: Socket;
  readonly #calls: ReadonlyMap<string, ServedFrameCall>;
  readonly #frames = new FrameReader();
  readonly #underWay = new Set<FrameCall>();
  readonly #listeners = new Map<number, CallListener>();
  #preface = PREFACE.length;

  constructor(socket: Socket, calls: ReadonlyMap<string, ServedFrameCall>) {
    this.#socket = socket;
    this.#calls = calls;
    socket.on('data', (piece) => this.#take(piece));
    socket.on('drain', () => {
      this.#readOrRest();
      for (const call of this.#listeners.values()) if (!call.isPaused) call.emit('drain');
    });
    socket.once('close', () => {
      for (const call of [...this.#underWay, ...this.#listeners.values()]) cancel(call);
    });
  }

  #take(piece: Buffer): void {
    const skipped = Math.min(this.#preface, piece.length);
    this.#preface -= skipped;
    try {
      for (const frame of this.#frames.read(piece.subarray(skipped))) this.#serve(frame);
    } catch {
      // The peer uses another protocol or is out of sync, so the rest cannot be read.
      this.#socket.destroy();
    }
    this.#readOrRest();
  }

  #serve(frame: Buffer): void {
    const id = frame.readUInt32LE(0);
    const pathLength = frame.readUInt8(4);
    if (pathLength === 0) {
      this.#onWord(id, frame[5]);
      return;
    }
    const path = frame.toString('latin1', 5, 5 + pathLength);
    const served = this.#calls.get(path);
    if (!served) {
      this.#answer(id, STATUS.UNIMPLEMENTED, Buffer.from(`The server does not implement ${path} by frames.`));
      return;
    }
    const { method } = served;
    let request: object;
    try {
      // Copied, because decoded messages keep references to these bytes, and the buffer around them belongs to other calls.
      request = method.requestDeserialize(Buffer.from(frame.subarray(5 + pathLength)));
    } catch (error) {
      this.#answer(
        id,
        STATUS.INTERNAL,
        Buffer.from(`Error deserializing request: ${(error as Error).message}`),
      );
      return;
    }
    if (served.kind === 'listener') {
      this.#listen(id, served, request);
      return;
    }
    const call = Object.assign(new EventEmitter(), { request, cancelled: false });
    this.#underWay.add(call);
    const end = (failure: HandlerFailure | null, answer: Buffer) => {
      if (!this.#underWay.delete(call)) return;
      if (failure) this.#answer(id, failure.code ?? STATUS.UNKNOWN, Buffer.from(failure.details ?? ''));
      else this.#answer(id, STATUS.OK, answer);
      this.#readOrRest();
    };
    if (served.kind === 'unary') {
      served.handler(call as unknown as ServerUnaryCall<object, object>, (failure, answer) =>
        end(failure, failure ? NOTHING : method.responseSerialize(answer as object)),
      );
      return;
    }
    call.once('error', (failure: HandlerFailure) => end(failure, NOTHING));
    const stream = Object.assign(call, {
      // No-op, because frames have no headers to send before an error.
      sendMetadata: () => {},
      write: (message: object) => {
        if (this.#underWay.has(call)) this.#answer(id, MORE, method.responseSerialize(message));
      },
      end: () => end(null, NOTHING),
    });
    served.handler(stream as unknown as ServerWritableStream<object, object>);
  }

  #listen(id: number, { method, handler }: ServedFrameCall & { kind: 'listener' }, request: object): void {
    const call = Object.assign(new EventEmitter(), { isPaused: false, cancelled: false });
    this.#listeners.set(id, call);
    const end = (code: number, text: string) => {
      if (this.#listeners.delete(id)) this.#answer(id, code, Buffer.from(text));
    };
    call.once('error', ({ code, details }: HandlerFailure) => end(code ?? STATUS.UNKNOWN, details ?? ''));
    Object.assign(call, {
      sendMetadata: () => {},
      write: (message: object) => {
        if (this.#listeners.has(id)) this.#answer(id, MORE, method.responseSerialize(message));
        return !call.isPaused && !this.#socket.writableNeedDrain;
      },
      end: () => end(STATUS.OK, ''),
    });
    handler(call as unknown as ServerDuplexStream<object, object>);
    call.emit('data', request);
  }

  /** Handles a word about a listener, which may already have ended. */
  #onWord(id: number, word: number | undefined): void {
    const call = this.#listeners.get(id);
    if (!call) return;
    call.isPaused = word === PAUSE;
    if (word === PAUSE) return;
    if (word === RESUME) {
      if (!this.#socket.writableNeedDrain) call.emit('drain');
      return;
    }
    this.#listeners.delete(id);
    cancel(call);
  }

  #answer(id: number, code: number, payload: Buffer): void {
    if (this.#socket.destroyed) return;
    const pieces = framed(5, payload, (head) => {
      head.writeUInt32LE(id, 0);
      head.writeUInt8(code, 4);
    });
    // Answers of one step of the event loop are sent together.
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    for (const piece of pieces) this.#socket.write(piece);
  }

  #readOrRest(): void {
    if (this.#underWay.size > MAX_UNDER_WAY || this.#socket.writableNeedDrain) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }
}

function cancel(call: FrameCall): void {
  call.cancelled = true;
  call.emit('cancelled', 'cancelled');
}
