/** The runtime configuration as one process sees it: a single read serves all who ask within a few seconds. */
import type { Clock } from '../ports/clock.ts';
import {
  NOTHING_SET,
  type RuntimeConfig,
  type RuntimeConfigReader,
  type RuntimeConfigStore,
} from '../ports/runtime-config.ts';

interface Look {
  /** When the read was sent: what it brings is no older, whenever it is answered. */
  readonly sentAt: number;
  readonly config: Promise<RuntimeConfig>;
}

export class CachedRuntimeConfig implements RuntimeConfigReader {
  readonly #store: Pick<RuntimeConfigStore, 'read'>;
  readonly #clock: Pick<Clock, 'now'>;
  #last: Look | undefined;

  constructor(store: Pick<RuntimeConfigStore, 'read'>, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
  }

  current(maxAgeMs: number): Promise<RuntimeConfig> {
    const now = this.#clock.now();
    const age = this.#last ? now - this.#last.sentAt : Number.POSITIVE_INFINITY;
    // A clock that was set back says nothing of the age.
    if (this.#last && age >= 0 && age < maxAgeMs) return this.#last.config;
    const look: Look = { sentAt: now, config: this.#read() };
    this.#last = look;
    // A read that failed is made again by the next who asks.
    look.config.catch(() => {
      if (this.#last === look) this.#last = undefined;
    });
    return look.config;
  }

  async #read(): Promise<RuntimeConfig> {
    return (await this.#store.read())?.config ?? NOTHING_SET;
  }
}
