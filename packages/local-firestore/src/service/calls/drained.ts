/** Answers of many messages to a reader that is slower than the server, so that they do not pile up in memory. */
import type { EventEmitter } from 'node:events';

const EVENTS = ['drain', 'close', 'cancelled'];

/** The connection of frames has no `destroyed`. */
type ClientStream = EventEmitter & { readonly cancelled: boolean; readonly destroyed?: boolean };

/** Resolves when the stream takes more, or its client is gone, which receives nothing more. */
export function drained(stream: ClientStream): Promise<void> {
  // The client may have left before the write: no event follows.
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
  /** False: it takes no more for now. The connection of frames takes all (undefined) and slows itself. */
  write(message: object): boolean | undefined;
  end(): void;
};

/** Takes no message once the client is gone. */
export async function sendAll(call: AnswerStream, messages: Iterable<object>): Promise<void> {
  for (const message of messages) {
    if (call.cancelled) return;
    if (call.write(message) === false) await drained(call);
  }
  if (!call.cancelled) call.end();
}
