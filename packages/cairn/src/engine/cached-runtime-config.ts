/** The runtime configuration, cached per process: one read serves all requests of a few seconds. */
import { isCopy } from '../core/recovery/restored.ts';
import type { Clock } from '../ports/clock.ts';
import {
  NOTHING_SET,
  type RuntimeConfig,
  type RuntimeConfigReader,
  type RuntimeConfigStore,
} from '../ports/runtime-config.ts';

interface ConfigRead {
  /** Start of the read. The result is at least as new, however late it arrives. */
  readonly sentAt: number;
  readonly config: Promise<RuntimeConfig>;
}

export class CachedRuntimeConfig implements RuntimeConfigReader {
  readonly #store: Pick<RuntimeConfigStore, 'read'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #home: string | undefined;
  #last: ConfigRead | undefined;

  /** @param home project and database in use; absent: no check for a restored copy */
  constructor(store: Pick<RuntimeConfigStore, 'read'>, clock: Pick<Clock, 'now'>, home?: string) {
    this.#store = store;
    this.#clock = clock;
    this.#home = home;
  }

  current(maxAgeMs: number): Promise<RuntimeConfig> {
    const now = this.#clock.now();
    const age = this.#last ? now - this.#last.sentAt : Number.POSITIVE_INFINITY;
    // If the clock was set back, the age is unknown.
    if (this.#last && age >= 0 && age < maxAgeMs) return this.#last.config;
    const read: ConfigRead = { sentAt: now, config: this.#read() };
    this.#last = read;
    // The next caller repeats a failed read.
    read.config.catch(() => {
      if (this.#last === read) this.#last = undefined;
    });
    return read.config;
  }

  async #read(): Promise<RuntimeConfig> {
    const config = (await this.#store.read())?.config ?? NOTHING_SET;
    if (!isCopy(config.home, this.#home)) return config;
    // The pause applies until operations/runtime/restore.ts stores it.
    return { ...config, restore: { at: this.#clock.now(), by: 'system', isPaused: true } };
  }
}
