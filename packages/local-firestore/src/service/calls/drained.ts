/** Waits for a stream whose reader is slower than the server, so that an answer does not pile up in memory. */
import type { EventEmitter } from 'node:events';

const EVENTS = ['drain', 'close', 'cancelled'];

/** Resolves when the stream takes more, or its client is gone, which receives nothing more. */
export function drained(stream: EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of EVENTS) stream.off(event, done);
      resolve();
    };
    for (const event of EVENTS) stream.on(event, done);
  });
}
