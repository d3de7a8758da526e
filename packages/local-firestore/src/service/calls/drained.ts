/** Backpressure for answers of many messages, so that they do not fill the memory if the client reads slowly. */
import type { EventEmitter } from 'node:events';

const EVENTS = ['drain', 'close', 'cancelled'];

/** The connection of frames has no `destroyed`. */
type ClientStream = EventEmitter & { readonly cancelled: boolean; readonly destroyed?: boolean };

/** Resolves when the stream accepts more, or when its client is gone. */
export function drained(stream: ClientStream): Promise<void> {
  // No event follows if the client left before the write.
  if (stream.cancelled || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      for (const event of EVENTS) stream.off(event, done);
      resolve();
    };
    for (const event of EVENTS) stream.on(event, done);
  });
}

type AnswerStream = ClientStream & {
  /** False if the stream is full. A frame connection returns undefined, accepts everything and limits itself. */
  write(message: object): boolean | undefined;
  end(): void;
};

/** Stops once the client is gone. */
export async function sendAll(call: AnswerStream, messages: Iterable<object>): Promise<void> {
  for (const message of messages) {
    if (call.cancelled) return;
    if (call.write(message) === false) await drained(call);
  }
  if (!call.cancelled) call.end();
}
