/**
 * Informs local publishers whether a topic has subscribers, so that they do not send messages that would be dropped. Served only
 * by frames. A change is sent before the answer to the call that made it.
 */
import type { EventEmitter } from 'node:events';
import type { ServedService } from '@cairn/local-kit/wire/frame-server';
import type { ServiceDefinition } from '@grpc/grpc-js';

/** Name of the only method. The request is the full name of a topic; each response is one byte: 1 if it has subscribers, otherwise 0. */
const METHOD = 'Watch';
const PATH = '/cairn.local.Audience/Watch';

interface StreamWatcher extends EventEmitter {
  write(message: Buffer): boolean;
}

export class SubscriberWatch {
  readonly #has: (topic: string) => boolean;
  readonly #watchers = new Map<StreamWatcher, { readonly topic: string; sent: boolean }>();

  constructor(has: (topic: string) => boolean) {
    this.#has = has;
  }

  /** Call after each change of subscriptions, topics and snapshots. */
  changed(): void {
    for (const [watcher, watched] of this.#watchers) {
      const has = this.#has(watched.topic);
      if (has === watched.sent) continue;
      watched.sent = has;
      watcher.write(byte(has));
    }
  }

  service(): ServedService {
    const definition = {
      [METHOD]: {
        path: PATH,
        requestStream: true,
        responseStream: true,
        requestDeserialize: (bytes: Buffer) => bytes.toString(),
        responseSerialize: (bytes: Buffer) => bytes,
      },
    } as unknown as ServiceDefinition;
    const implementation = { [METHOD]: (watcher: StreamWatcher) => this.#watch(watcher) } as never;
    return { definition, implementation, listeners: [METHOD] };
  }

  #watch(watcher: StreamWatcher): void {
    watcher.once('data', (topic: string) => {
      const sent = this.#has(topic);
      this.#watchers.set(watcher, { topic, sent });
      watcher.write(byte(sent));
    });
    watcher.once('cancelled', () => this.#watchers.delete(watcher));
  }
}

const byte = (has: boolean) => Buffer.of(has ? 1 : 0);
