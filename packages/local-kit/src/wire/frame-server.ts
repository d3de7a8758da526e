/**
 * Serves the unary calls of gRPC services by frames (frames.ts), with the handlers that grpc-js has: the same messages, statuses and
 * refusals, without what HTTP/2 costs for each call.
 *
 * Must not: know what any call means.
 */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import {
  type handleUnaryCall,
  type MethodDefinition,
  type ServerUnaryCall,
  type ServiceDefinition,
  type ServiceError,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { FrameReader, PREFACE } from './frames.ts';

/** Most concurrent calls of one connection; beyond, it is not read. */
const MAX_UNDER_WAY = 1_000;

interface Unary {
  readonly method: MethodDefinition<object, object>;
  readonly handler: handleUnaryCall<object, object>;
}

export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/** Takes over connections whose next bytes are the preface. */
export type ServeFrames = (socket: Socket) => void;

export function frameServer(services: readonly ServedService[]): ServeFrames {
  const calls = new Map<string, Unary>();
  for (const { definition, implementation } of services) {
    for (const [name, method] of Object.entries(definition)) {
      const handler = implementation[name] as handleUnaryCall<object, object> | undefined;
      if (handler && !method.requestStream && !method.responseStream)
        calls.set(method.path, { method, handler });
    }
  }
  return (socket) => new Connection(socket, calls);
}

class Connection {
  readonly #socket: Socket;
  readonly #calls: ReadonlyMap<string, Unary>;
  readonly #frames = new FrameReader();
  readonly #underWay = new Set<EventEmitter>();
  #preface = PREFACE.length;

  constructor(socket: Socket, calls: ReadonlyMap<string, Unary>) {
    this.#socket = socket;
    this.#calls = calls;
    socket.on('data', (piece) => this.#take(piece));
    socket.on('drain', () => this.#readOrRest());
    socket.once('close', () => {
      for (const call of this.#underWay) call.emit('cancelled', 'cancelled');
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
    const path = frame.toString('latin1', 5, 5 + pathLength);
    const unary = this.#calls.get(path);
    if (!unary) {
      this.#answer(id, status.UNIMPLEMENTED, Buffer.from(`The server does not implement ${path} by frames.`));
      return;
    }
    const { method, handler } = unary;
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
    const call = Object.assign(new EventEmitter(), { request });
    this.#underWay.add(call);
    handler(call as unknown as ServerUnaryCall<object, object>, (error, answer) => {
      this.#underWay.delete(call);
      if (error) {
        const { code = status.UNKNOWN, details = '' } = error as Partial<ServiceError>;
        this.#answer(id, code, Buffer.from(details));
      } else {
        this.#answer(id, status.OK, method.responseSerialize(answer as object));
      }
      this.#readOrRest();
    });
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
