/**
 * The client side of frames (frames.ts) for programs of the local cloud, over an open connection. Workers use
 * `packages/cairn/src/platform/clients/wire.ts`, which must not depend on this package.
 *
 * Must not: open a connection, or repeat a call.
 */
import type { Socket } from 'node:net';
import { END, FrameReader, framed, MORE, PAUSE, PREFACE, RESUME } from './frames.ts';

const MAX_CALL_ID = 0xffff_ffff;

/** Reason why a call failed. `code`: a gRPC status; undefined if the connection was lost. */
export interface FrameFailure {
  readonly code: number | undefined;
  readonly details: string;
}

export interface FrameListener {
  onMessage(message: Buffer): void;
  /** Called at the end; undefined means success. Not called if the caller ended the call. */
  onEnd(failure: FrameFailure | undefined): void;
}

export interface FrameCall {
  end(): void;
  /** Pauses the sender; messages in transit still arrive. */
  pause(): void;
  resume(): void;
}

export class FrameClient {
  readonly #socket: Socket;
  readonly #calls = new Map<number, FrameListener>();
  #lastId = 0;
  #isOpen = true;

  /** @param socket whose peer expects {@link PREFACE} next */
  constructor(socket: Socket) {
    this.#socket = socket;
    const frames = new FrameReader();
    socket.write(PREFACE);
    socket.on('data', (piece) => {
      try {
        for (const frame of frames.read(piece)) this.#answerCall(frame);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    let why = 'the connection was closed';
    socket.on('error', (error) => {
      why = error.message;
    });
    socket.once('close', () => {
      this.#isOpen = false;
      const pending = [...this.#calls.values()];
      this.#calls.clear();
      for (const { onEnd } of pending) onEnd({ code: undefined, details: why });
    });
  }

  /** False if a call would not reach the peer. */
  get isOpen(): boolean {
    return this.#isOpen && this.#socket.writable;
  }

  call(path: string, request: Uint8Array, listener: FrameListener): FrameCall {
    const id = this.#freshId();
    this.#calls.set(id, listener);
    this.#write(id, path, request);
    const say = (word: number) => {
      if (this.#calls.has(id)) this.#write(id, '', Buffer.of(word));
    };
    return {
      end: () => {
        say(END);
        this.#calls.delete(id);
      },
      pause: () => say(PAUSE),
      resume: () => say(RESUME),
    };
  }

  close(): void {
    this.#socket.destroy();
  }

  #freshId(): number {
    do this.#lastId = this.#lastId >= MAX_CALL_ID ? 1 : this.#lastId + 1;
    while (this.#calls.has(this.#lastId));
    return this.#lastId;
  }

  #write(id: number, path: string, payload: Uint8Array): void {
    const pieces = framed(5 + path.length, payload, (head) => {
      head.writeUInt32LE(id, 0);
      head.writeUInt8(path.length, 4);
      head.write(path, 5, 'latin1');
    });
    // Calls of one step of the event loop are sent together.
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      setImmediate(() => this.#socket.uncork());
    }
    for (const piece of pieces) this.#socket.write(piece);
  }

  #answerCall(frame: Buffer): void {
    const id = frame.readUInt32LE(0);
    const call = this.#calls.get(id);
    // The caller has already ended the call.
    if (!call) return;
    const code = frame.readUInt8(4);
    const payload = frame.subarray(5);
    if (code === MORE) {
      call.onMessage(payload);
      return;
    }
    this.#calls.delete(id);
    call.onEnd(code === 0 ? undefined : { code, details: payload.toString() });
  }
}
