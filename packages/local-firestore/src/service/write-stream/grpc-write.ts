/** Connects Write to grpc-js: a bidirectional stream, its faults and its end. Independent of the content of writes. */
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { CallContext } from '../calls/call.ts';
import { cut, refuse, toStatus, underFault } from '../calls/grpc-outcome.ts';
import { WriteCall, type WriteRequest } from './write-call.ts';
import { WriteLogs } from './write-log.ts';

type WriteCallStream = ServerDuplexStream<WriteRequest, object>;

export function serveWrite(context: CallContext) {
  const logs = new WriteLogs();
  return (stream: WriteCallStream): void => {
    context.meter.call('Write');
    new WriteStream(stream, context, new WriteCall(context, logs)).serve();
  };
}

class WriteStream {
  readonly #stream: WriteCallStream;
  readonly #context: CallContext;
  readonly #call: WriteCall;
  /** Handles requests one after the other, and answers all before the stream ends. */
  #taken: Promise<void> = Promise.resolve();
  #left = Number.POSITIVE_INFINITY;
  #hasEnded = false;

  constructor(stream: WriteCallStream, context: CallContext, call: WriteCall) {
    this.#stream = stream;
    this.#context = context;
    this.#call = call;
  }

  serve(): void {
    const stream = this.#stream;
    stream.on('data', (request: WriteRequest) => {
      this.#taken = this.#taken.then(() => this.#take(request)).catch((error: unknown) => this.#fail(error));
    });
    const onClose = () => {
      this.#hasEnded = true;
    };
    for (const event of ['cancelled', 'close', 'error']) stream.on(event, onClose);
    stream.on('end', () => {
      this.#taken = this.#taken.then(() => {
        if (!this.#hasEnded) stream.end();
      });
    });
  }

  async #take(request: WriteRequest): Promise<void> {
    if (this.#hasEnded) return;
    const { run, messages } = await underFault('Write', request, this.#context);
    this.#left = Math.min(this.#left, messages);
    const taken = await run(() => (this.#hasEnded ? undefined : this.#call.take(request)));
    for (const answer of taken?.answers ?? []) {
      if (this.#hasEnded) return;
      if (this.#left-- <= 0) throw cut();
      this.#stream.write(answer);
    }
    if (!taken?.isLast || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stream.end();
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    refuse(this.#stream, toStatus(error));
  }
}
