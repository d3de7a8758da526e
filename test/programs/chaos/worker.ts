/** A process of the installation, with its own clock, behind a gate, and mortal. */
import { CachedRuntimeConfig } from '../../../packages/cairn/src/engine/cached-runtime-config.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { KnownPlans } from '../../../packages/cairn/src/engine/plans/known-plans.ts';
import { otherRuns } from '../../../packages/cairn/src/operations/other-runs.ts';
import type { IdempotencyStore } from '../../../packages/cairn/src/ports/idempotency-store.ts';
import type { RunStatistics } from '../../../packages/cairn/src/ports/run-statistics.ts';
import type { PlanStore } from '../../../packages/cairn/src/ports/runs/plan-store.ts';
import type { RuntimeConfigStore } from '../../../packages/cairn/src/ports/runtime-config.ts';
import { never } from '../../support/intercept.ts';
import { seededRandomness } from '../../support/world.ts';
import type { Gate } from './gate.ts';

/** Dependencies shared by all processes. */
export interface SharedDeps extends EngineDeps {
  readonly records: IdempotencyStore;
  readonly config: RuntimeConfigStore;
  readonly statistics: RunStatistics;
  readonly planStore: PlanStore;
}

/** Breaks a process's view of the world, or adds something that only this process has. */
export type Sabotage = (deps: SharedDeps, isAlive: () => boolean) => SharedDeps;

/** Members of a process itself; it reaches all others through the gate. */
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
  'dayLimits',
  'plans',
]);

export interface WorkerOptions {
  readonly base: SharedDeps;
  readonly gate: Gate;
  /** Differs for each process, because owners of leases must differ. */
  readonly seed: number;
  /** Clock of the process minus the clock of the store, ms. */
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
    const ports = Object.entries(base).filter(([name, port]) => port !== undefined && !OWN.has(name));
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
    const plans = new KnownPlans({ ...own, store: own.planStore });
    const known = { ...own, runtime, plans };
    this.deps = sabotage({ ...known, otherRuns: otherRuns(known) }, isAlive);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** True if it was asked to end: it gets no new work. */
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

  /** Settles as the work does, unless the process dies first. */
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
