/**
 * Serves the calls of gRPC services that have one request by frames (frames.ts), with the handlers that grpc-js has: the same messages,
 * statuses and refusals, without what HTTP/2 costs for each call.
 *
 * Must not: know what any call means.
 */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type MethodDefinition,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { FrameReader, MORE, PREFACE } from './frames.ts';

/** Most concurrent calls of one connection, without listeners; beyond, it is not read. */
const MAX_UNDER_WAY = 1_000;
const NOTHING = Buffer.alloc(0);

type Method = MethodDefinition<object, object>;

type Served =
  | { readonly kind: 'unary'; readonly method: Method; readonly handler: handleUnaryCall<object, object> }
  | {
      readonly kind: 'stream';
      readonly method: Method;
      readonly handler: handleServerStreamingCall<object, object>;
    }
  | {
      readonly kind: 'listener';
      readonly method: Method;
      readonly handler: handleBidiStreamingCall<object, object>;
    };

/** The outcome of a call that did not succeed, as handlers tell it. */
type Failure = Partial<ServiceError>;

export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** Methods with a stream of requests of which callers send the first only, and then listen until they end the call. */
  readonly listeners?: readonly string[];
}

/** Takes over connections whose next bytes are the preface. */
export type ServeFrames = (socket: Socket) => void;

export function frameServer(services: readonly ServedService[]): ServeFrames {
  const calls = new Map<string, Served>();
  for (const { definition, implementation, listeners = [] } of services) {
    for (const [name, method] of Object.entries(definition)) {
      const handler = implementation[name];
      const listens = listeners.includes(name);
      if (!handler || (method.requestStream && !listens)) continue;
      const kind = listens ? 'listener' : method.responseStream ? 'stream' : 'unary';
      calls.set(method.path, { kind, method, handler } as Served);
    }
  }
  return (socket) => new Connection(socket, calls);
}

class Connection {
  readonly #socket: Socket;
  readonly #calls: ReadonlyMap<string, Served>;
  readonly #frames = new FrameReader();
  readonly #underWay = new Set<EventEmitter>();
  readonly #listeners = new Map<number, EventEmitter>();
  #preface = PREFACE.length;

  constructor(socket: Socket, calls: ReadonlyMap<string, Served>) {
    this.#socket = socket;
    this.#calls = calls;
    socket.on('data', (piece) => this.#take(piece));
    socket.on('drain', () => {
      this.#readOrRest();
      for (const call of this.#listeners.values()) call.emit('drain');
    });
    socket.once('close', () => {
      for (const call of [...this.#underWay, ...this.#listeners.values()])
        call.emit('cancelled', 'cancelled');
    });
  }

  #take(piece: Buffer): void {
    const skipped = Math.min(this.#preface, piece.length);
    this.#preface -= skipped;
    try {
      for (const frame of this.#frames.read(piece.subarray(skipped))) this.#serve(frame);
    } catch {
      // Not a peer of ours, or one out of step: nothing that follows can be read.
      this.#socket.destroy();
    }
    this.#readOrRest();
  }

  #serve(frame: Buffer): void {
    const id = frame.readUInt32LE(0);
    const pathLength = frame.readUInt8(4);
    if (pathLength === 0) {
      this.#endListener(id);
      return;
    }
    const path = frame.toString('latin1', 5, 5 + pathLength);
    const served = this.#calls.get(path);
    if (!served) {
      this.#answer(id, status.UNIMPLEMENTED, Buffer.from(`The server does not implement ${path} by frames.`));
      return;
    }
    const { method } = served;
    let request: object;
    try {
      // A copy: decoded messages keep pieces of it, and the bytes around it belong to other calls.
      request = method.requestDeserialize(Buffer.from(frame.subarray(5 + pathLength)));
    } catch (error) {
      this.#answer(
        id,
        status.INTERNAL,
        Buffer.from(`Error deserializing request: ${(error as Error).message}`),
      );
      return;
    }
    if (served.kind === 'listener') {
      this.#listen(id, served, request);
      return;
    }
    const call = Object.assign(new EventEmitter(), { request });
    this.#underWay.add(call);
    const end = (failure: Failure | null, answer: Buffer) => {
      if (!this.#underWay.delete(call)) return;
      if (failure) this.#answer(id, failure.code ?? status.UNKNOWN, Buffer.from(failure.details ?? ''));
      else this.#answer(id, status.OK, answer);
      this.#readOrRest();
    };
    if (served.kind === 'unary') {
      served.handler(call as unknown as ServerUnaryCall<object, object>, (failure, answer) =>
        end(failure, failure ? NOTHING : method.responseSerialize(answer as object)),
      );
      return;
    }
    call.once('error', (failure: Failure) => end(failure, NOTHING));
    const stream = Object.assign(call, {
      // HTTP/2 has headers to send before a refusal; a frame has none.
      sendMetadata: () => {},
      write: (message: object) => {
        if (this.#underWay.has(call)) this.#answer(id, MORE, method.responseSerialize(message));
      },
      end: () => end(null, NOTHING),
    });
    served.handler(stream as unknown as ServerWritableStream<object, object>);
  }

  #listen(id: number, { method, handler }: Served & { kind: 'listener' }, request: object): void {
    const call = new EventEmitter();
    this.#listeners.set(id, call);
    const end = (code: number, text: string) => {
      if (this.#listeners.delete(id)) this.#answer(id, code, Buffer.from(text));
    };
    call.once('error', ({ code, details }: Failure) => end(code ?? status.UNKNOWN, details ?? ''));
    Object.assign(call, {
      sendMetadata: () => {},
      write: (message: object) => {
        if (this.#listeners.has(id)) this.#answer(id, MORE, method.responseSerialize(message));
        return !this.#socket.writableNeedDrain;
      },
      end: () => end(status.OK, ''),
    });
    handler(call as unknown as ServerDuplexStream<object, object>);
    call.emit('data', request);
  }

  /** One that has ended by itself meanwhile is not there any more. */
  #endListener(id: number): void {
    const call = this.#listeners.get(id);
    this.#listeners.delete(id);
    call?.emit('cancelled', 'cancelled');
  }

  #answer(id: number, code: number, payload: Buffer): void {
    if (this.#socket.destroyed) return;
    const head = Buffer.allocUnsafe(9);
    head.writeUInt32LE(5 + payload.length, 0);
    head.writeUInt32LE(id, 4);
    head.writeUInt8(code, 8);
    // Answers of one step of the event loop leave together.
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    this.#socket.write(head);
    this.#socket.write(payload);
  }

  #readOrRest(): void {
    if (this.#underWay.size > MAX_UNDER_WAY || this.#socket.writableNeedDrain) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }
}
