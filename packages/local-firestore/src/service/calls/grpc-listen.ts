/** Connects Listen to grpc-js: a bidirectional stream, its faults and its end. Independent of targets. */
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { CallContext } from './call.ts';
import { drained } from './drained.ts';
import { cut, refuse, toStatus, underFault } from './grpc-outcome.ts';
import { ListenCall, type ListenRequest } from './listen.ts';

type ListenCallStream = ServerDuplexStream<ListenRequest, object>;

export function serveListen(context: CallContext) {
  return (stream: ListenCallStream): void => {
    context.meter.call('Listen');
    new ListenStream(stream, context).serve();
  };
}

class ListenStream {
  readonly #stream: ListenCallStream;
  readonly #context: CallContext;
  /** Handles requests one after the other; the first decides the database and the fault. */
  #taken: Promise<void> = Promise.resolve();
  #call: ListenCall | undefined;
  #left = Number.POSITIVE_INFINITY;
  #hasEnded = false;

  constructor(stream: ListenCallStream, context: CallContext) {
    this.#stream = stream;
    this.#context = context;
  }

  serve(): void {
    const stream = this.#stream;
    const leave = this.#context.store.listeners.join((why) => this.#fail(why));
    stream.on('data', (request: ListenRequest) => {
      this.#taken = this.#taken.then(() => this.#take(request)).catch((error: unknown) => this.#fail(error));
    });
    const close = () => {
      this.#hasEnded = true;
      this.#call?.close();
      leave();
    };
    stream.on('cancelled', close);
    stream.on('close', close);
    stream.on('error', close);
    stream.on('end', () => {
      close();
      stream.end();
    });
  }

  async #take(request: ListenRequest): Promise<void> {
    const { run, messages } = await underFault('Listen', request, this.#context);
    this.#left = Math.min(this.#left, messages);
    await run(() => {
      if (this.#hasEnded) return;
      this.#call ??= new ListenCall(request, this.#context, {
        send: (message) => this.#send(message),
        fail: (error) => this.#fail(error),
      });
      this.#call.take(request);
    });
  }

  #send(message: object): Promise<void> | undefined {
    if (this.#hasEnded) return undefined;
    if (this.#left-- <= 0) {
      this.#fail(cut());
      return undefined;
    }
    if (this.#stream.write(message)) return undefined;
    return drained(this.#stream);
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#call?.close();
    refuse(this.#stream, toStatus(error));
  }
}
