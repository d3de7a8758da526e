/**
 * The worker's end of the link to the cloud process: serves functions that take whole requests by frames, on connections of the
 * worker's HTTP server that were upgraded (`Upgrade`).
 *
 * Must not: serve a function that uses more of Express than {@link WholeRequest} and {@link WholeResponse} have.
 */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { frameServer } from '@cairn/local-kit/wire/frame-server';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type { FunctionHandler } from '../function-spec.ts';
import { answerUncaught } from '../uncaught.ts';
import {
  decode,
  ECHO,
  encode,
  isSafe,
  type LinkMessage,
  machineMs,
  NOT_SERVED,
  NOT_TAKEN,
  PATH,
  type RequestHead,
  TOO_LATE,
  UPGRADE,
} from './messages.ts';
import { WholeRequest } from './whole-request.ts';
import { type AnsweredCall, WholeResponse } from './whole-response.ts';

interface Served {
  /** Functions that take whole requests, by name. */
  readonly handlers: ReadonlyMap<string, FunctionHandler>;
  /** Names of task-queue functions. */
  readonly tasks: ReadonlySet<string>;
  /** Time for the `Date` header, epoch ms. */
  now(): number;
}

const NOTHING = Buffer.alloc(0);

const SERVICE = {
  Serve: {
    path: PATH,
    requestStream: true,
    responseStream: true,
    requestDeserialize: (bytes: Buffer) => decode<RequestHead>(bytes),
    responseSerialize: (bytes: Buffer) => bytes,
  },
} as unknown as ServiceDefinition;

/** Emits `request` with each request and its response, as an HTTP server does. */
export class ServedLink extends EventEmitter {
  readonly #served: Served;
  readonly #sockets = new Set<Socket>();
  #inFlight = 0;
  #onIdle: (() => void) | undefined;
  /** Number of callers' requests that change something, so that no other worker may repeat them. */
  #changes = 0;
  readonly #onChanged = new Set<() => void>();

  constructor(server: Server, served: Served) {
    super();
    this.#served = served;
    const implementation = { Serve: (call: AnsweredCall) => this.#serve(call) } as never;
    const serve = frameServer([{ definition: SERVICE, implementation, listeners: ['Serve'] }]);
    server.on('upgrade', (request, socket: Socket, head) => {
      if (request.headers.upgrade !== UPGRADE || this.#onIdle) {
        socket.destroy();
        return;
      }
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      // Sockets of an HTTP server stay half open.
      socket.on('end', () => socket.destroy());
      socket.setNoDelay(true);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${UPGRADE}\r\n\r\n`);
      if (head.length > 0) socket.unshift(head);
      serve(socket);
    });
  }

  /** Accepts no further request; resolves when current ones are answered, or are cut after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    const idle = Promise.withResolvers<void>();
    this.#onIdle = idle.resolve;
    if (this.#inFlight === 0) idle.resolve();
    const cut = setTimeout(idle.resolve, graceMs);
    await idle.promise;
    clearTimeout(cut);
    for (const socket of this.#sockets) socket.destroySoon();
  }

  /** Resolves when each request that changes something is answered and the answers are being sent, or after `withinMs`. */
  async answersSent(withinMs: number): Promise<void> {
    // One turn later, arrived requests are counted, and answers written now are sent.
    await setImmediate();
    if (this.#changes === 0) return;
    const answered = Promise.withResolvers<void>();
    this.#onChanged.add(answered.resolve);
    const timer = setTimeout(answered.resolve, withinMs);
    await answered.promise;
    clearTimeout(timer);
    this.#onChanged.delete(answered.resolve);
    await setImmediate();
  }

  #serve(call: AnsweredCall): void {
    call.once('data', (message: LinkMessage<RequestHead>) => {
      if (this.#onIdle) {
        call.emit('error', { code: NOT_TAKEN, details: 'the worker is ending' });
        return;
      }
      if (message.head.name === ECHO) {
        call.write(encode({ status: 200, headers: {} }, message.body));
        call.end();
        return;
      }
      // The functions may have been replaced since the worker was chosen.
      const handler = this.#served.handlers.get(message.head.name);
      if (handler === undefined) {
        call.emit('error', { code: NOT_SERVED, details: 'no such function takes whole requests' });
        return;
      }
      const { takeBy } = message.head;
      if (takeBy !== undefined) {
        if (machineMs() > takeBy) {
          call.emit('error', { code: TOO_LATE, details: 'the worker was busy' });
          return;
        }
        call.write(NOTHING);
      }
      const request = new WholeRequest(message);
      const response = new WholeResponse(call, { dateMs: this.#served.now(), method: request.method });
      this.#inFlight += 1;
      const isChange = !isSafe(request.method) && !this.#served.tasks.has(message.head.name);
      if (isChange) this.#changes += 1;
      response.once('close', () => {
        if (isChange) this.#answeredChange();
        this.#inFlight -= 1;
        if (this.#inFlight === 0) this.#onIdle?.();
      });
      this.emit('request', request, response);
      // Deferred, so that the server can send what was written before a function blocks the event loop.
      process.nextTick(() => void this.#answer(handler, request, response));
    });
  }

  #answeredChange(): void {
    this.#changes -= 1;
    if (this.#changes === 0) for (const resolve of this.#onChanged) resolve();
  }

  async #answer(handler: FunctionHandler, request: WholeRequest, response: WholeResponse): Promise<void> {
    try {
      await handler(request, response);
    } catch (error) {
      answerUncaught(error, response as never);
    }
  }
}
