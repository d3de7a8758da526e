/**
 * Due runs that one tick of the scan has not handled yet: reads page after page and returns one run at a time, in the order of
 * core/recovery/scan-order.ts. Shared by the workers of the tick.
 */
import { type DueClass, dueClass, nextScanMove, type ScanMove } from '../core/recovery/scan-order.ts';
import { CONFIG_AGE_MS, stoppedBy } from '../engine/admission.ts';
import type { Clock } from '../ports/clock.ts';
import type { DueRun, RunStore } from '../ports/run-store.ts';
import type { RuntimeConfig, RuntimeConfigReader } from '../ports/runtime-config.ts';

interface BacklogDeps {
  readonly store: Pick<RunStore, 'dueRuns'>;
  readonly runtime: RuntimeConfigReader;
  readonly clock: Clock;
}

/** A run that a worker is to handle. */
export interface TakenRun {
  readonly run: DueRun;
  readonly as: DueClass;
}

interface BacklogSearch {
  /** The configuration read when the tick began. */
  readonly config: RuntimeConfig;
  readonly pageSize: number;
}

export class DueRuns {
  readonly #deps: BacklogDeps;
  readonly #pageSize: number;
  readonly #startedAt: number;
  readonly #open: Readonly<Record<DueClass, DueRun[]>> = { movable: [], blocked: [], paused: [] };
  #config: RuntimeConfig;
  #found = 0;
  #isAtEnd = false;
  #first: DueRun | undefined;
  #last: DueRun | undefined;
  #reading: Promise<void> | undefined;

  constructor(deps: BacklogDeps, { config, pageSize }: BacklogSearch) {
    this.#deps = deps;
    this.#config = config;
    this.#pageSize = pageSize;
    this.#startedAt = deps.clock.now();
  }

  /** The runtime configuration with which the last page was sorted. */
  get config(): RuntimeConfig {
    return this.#config;
  }

  get found(): number {
    return this.#found;
  }

  /** True if the tick ended before it returned all runs that were due when it began. */
  get isCut(): boolean {
    return !this.#isAtEnd || Object.values(this.#open).some(({ length }) => length > 0);
  }

  /** Delay of the oldest due time when the tick began. */
  get lagMs(): number {
    return Math.max(0, this.#startedAt - (this.#first?.wakeAt ?? this.#startedAt));
  }

  /**
   * Returns undefined when the tick is over.
   *
   * @throws errors of reading a page, to every worker that waits for the page
   */
  async next(): Promise<TakenRun | undefined> {
    for (;;) {
      const move = this.#move();
      if (move === 'end') return undefined;
      if (move === 'read') {
        this.#reading ??= this.#read().finally(() => {
          this.#reading = undefined;
        });
        await this.#reading;
        continue;
      }
      const run = this.#open[move].shift();
      if (run) return { run, as: move };
    }
  }

  #move(): ScanMove {
    if (stoppedBy(this.#config)) return 'end';
    const { movable, blocked, paused } = this.#open;
    return nextScanMove({
      elapsedMs: this.#deps.clock.now() - this.#startedAt,
      read: this.#found,
      isAtEnd: this.#isAtEnd,
      open: { movable: movable.length, blocked: blocked.length, paused: paused.length },
    });
  }

  async #read(): Promise<void> {
    const { store, runtime } = this.#deps;
    // A pause may begin during a tick, so the configuration is read again.
    if (this.#last) this.#config = await runtime.current(CONFIG_AGE_MS);
    const page = await store.dueRuns(this.#startedAt, this.#pageSize, this.#last);
    this.#isAtEnd = page.length < this.#pageSize;
    this.#found += page.length;
    this.#first ??= page[0];
    this.#last = page.at(-1) ?? this.#last;
    for (const run of page) this.#open[dueClass(run, this.#config.paused)].push(run);
  }
}
