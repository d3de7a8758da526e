/** A process of the installation: with a clock of its own, cut off by a gate, and mortal. */
import { CachedRuntimeConfig } from '../../../functions/src/engine/cached-runtime-config.ts';
import type { EngineDeps } from '../../../functions/src/engine/deps.ts';
import { otherRuns } from '../../../functions/src/operations/other-runs.ts';
import type { IdempotencyStore } from '../../../functions/src/ports/idempotency-store.ts';
import type { RunCensus } from '../../../functions/src/ports/run-census.ts';
import type { RuntimeConfigStore } from '../../../functions/src/ports/runtime-config.ts';
import { never } from '../../support/intercept.ts';
import { seededRandomness } from '../../support/world.ts';
import type { Gate } from './gate.ts';

/** What all processes share. */
export interface SharedDeps extends EngineDeps {
  readonly records: IdempotencyStore;
  readonly config: RuntimeConfigStore;
  readonly census: RunCensus;
}

/** Breaks what a process sees of its world, or adds to it what only this process has. */
export type Sabotage = (deps: SharedDeps, isAlive: () => boolean) => SharedDeps;

/** What a process has by itself; all else it reaches through the gate. */
const OWN: ReadonlySet<string> = new Set([
  'clock',
  'random',
  'log',
  'metrics',
  'tracer',
  'registry',
  'bindings',
  'settings',
  'shutdown',
  'runtime',
  'otherRuns',
]);

export interface WorkerOptions {
  readonly base: SharedDeps;
  readonly gate: Gate;
  /** Another one for each process: owners of leases must differ. */
  readonly seed: number;
  /** How far its clock is ahead of the store's, ms. */
  readonly skewMs: number;
  readonly sabotage: Sabotage;
}

export class Worker {
  readonly deps: SharedDeps;
  readonly skewMs: number;
  readonly #shutdown = new AbortController();
  #alive = true;

  constructor({ base, gate, seed, skewMs, sabotage }: WorkerOptions) {
    this.skewMs = skewMs;
    const isAlive = () => this.#alive;
    const ports = Object.entries(base).filter(([name]) => !OWN.has(name));
    const own = {
      ...base,
      ...Object.fromEntries(ports.map(([name, port]) => [name, gate.guard(port as object, isAlive)])),
      clock: {
        now: () => base.clock.now() + skewMs,
        timer: (delayMs: number, fire: () => void) =>
          base.clock.timer(Math.ceil(delayMs), () => isAlive() && fire()),
      },
      random: seededRandomness(seed),
      shutdown: this.#shutdown.signal,
    };
    const runtime = new CachedRuntimeConfig(own.config, own.clock);
    this.deps = sabotage({ ...own, runtime, otherRuns: otherRuns(own) }, isAlive);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Whether it was asked to end: nothing new is given to it. */
  get ending(): boolean {
    return this.#shutdown.signal.aborted;
  }

  /** SIGKILL. */
  kill(): void {
    this.#alive = false;
  }

  /** SIGTERM. */
  terminate(): void {
    this.#shutdown.abort();
  }

  /** Settles as the work does, unless the process dies before. */
  async run<T>(work: (deps: SharedDeps) => Promise<T>): Promise<T> {
    try {
      const result = await work(this.deps);
      return this.#alive ? result : await never();
    } catch (error) {
      if (!this.#alive) return never();
      throw error;
    }
  }
}
