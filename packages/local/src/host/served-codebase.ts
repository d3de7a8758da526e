/**
 * The functions of one codebase and the workers that serve them. Owns which generation of workers gets requests: a later
 * generation replaces the earlier one once it serves.
 *
 * Must not: cut requests of a replaced generation.
 */
import { type AskFunction, asking } from './ask-function.ts';
import { Forwarder } from './forward.ts';
import type { FunctionSpec } from './function-spec.ts';
import type { PoolOptions } from './workers/pool-options.ts';
import { TASKS } from './workers/roles.ts';
import { WorkerPool } from './workers/worker-pool.ts';
import type { WorkerOptions, WorkerProcess } from './workers/worker-process.ts';

export interface Codebase {
  readonly name: string;
  /** Absolute path of the module that exports its functions. */
  readonly module: string;
  /** Prefix of the names of its functions, including the dash. */
  readonly prefix?: string;
  /** Added to the environment of all functions for those of this codebase. */
  readonly env?: Readonly<Record<string, string>>;
  /** Values of secrets, for functions that declare them. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** True if no bodies of task-queue functions have to be isolated: one worker serves all functions. */
  readonly isPlain?: boolean;
}

export interface StartWorkers {
  readonly env: Readonly<Record<string, string>>;
  /** See {@link WorkerOptions.secrets}. */
  readonly secrets?: WorkerOptions['secrets'];
  /**
   * Called once, with the functions that the module exports and the names of their parameters without a value; answers with the values
   * of their secrets.
   */
  onFunctions(functions: readonly FunctionSpec[], unset: readonly string[]): Readonly<Record<string, string>>;
  /** Checks the new workers before the old ones end. An error means that they cannot be loaded. */
  verify?(ask: AskFunction, functions: ReadonlyMap<string, FunctionSpec>): Promise<void>;
}

/** Workers that loaded the same state of the module. */
interface Generation {
  /** Higher for a codebase that was loaded later. */
  readonly number: number;
  readonly pool: WorkerPool;
  /** Served functions, without those of unsupported triggers. */
  readonly functions: ReadonlyMap<string, FunctionSpec>;
  /** Resolves once its check has passed; never settles if it cannot be loaded. */
  readonly verified: Promise<void>;
  /** True once its workers have served. From then on killed workers are replaced, and only the check can fail. */
  isLoaded: boolean;
}

/** Attempts to load the same state of a module, if a worker is killed meanwhile. A module that needs too much memory is killed each time. */
const MOST_LOADS = 3;

export class ServedCodebase {
  readonly #options: Omit<PoolOptions, 'env' | 'secrets' | 'onLoaded'>;
  /** All generations with workers: serving, starting, and finishing their requests. */
  readonly #generations = new Set<Generation>();
  #serving: Generation | undefined;
  /** The newest generation that passed its check; serves again if a later one cannot be loaded. */
  #lastWorking: Generation | undefined;
  #started = 0;
  #stopping = false;
  readonly forwarder = new Forwarder({ pool: () => (this.#serving as Generation).pool });

  constructor(options: Omit<PoolOptions, 'env' | 'secrets' | 'onLoaded'>) {
    this.#options = options;
  }

  /** The functions of the serving generation; empty before one is loaded. */
  get functions(): ReadonlyMap<string, FunctionSpec> {
    return this.#serving?.functions ?? new Map();
  }

  get pids(): number[] {
    return [...this.#generations].flatMap(({ pool }) => pool.pids);
  }

  get pidsByRole(): Readonly<Record<string, readonly number[]>> {
    return this.#serving?.pool.pidsByRole ?? {};
  }

  /** A task worker that takes frames and has loaded the libraries of a first request. Undefined after an edit, because another may follow soon. */
  get warmWorker(): WorkerProcess | undefined {
    const workers = this.#started > 1 ? [] : (this.#serving?.pool.workersOf(TASKS) ?? []);
    return workers.find(
      ({ isWarm, isRetired, port, link }) => isWarm && !isRetired && port !== undefined && link?.isOpen,
    );
  }

  /** Time in ms that all workers but spares have been idle. */
  get idleMs(): number {
    return Math.min(...[...this.#generations].map(({ pool }) => pool.idleMs));
  }

  loadIdleWorkers(): void {
    this.#serving?.pool.loadIdleWorkers();
  }

  /**
   * Loads the current module; resolves when it serves and has passed its check. The previous workers finish their requests. If a
   * worker is killed meanwhile, the module is loaded again, because nothing else would do so before the next edit.
   *
   * @returns false if a later one already serves
   * @throws the reason if it cannot be loaded; then the previous workers serve again
   */
  async start(start: StartWorkers): Promise<boolean> {
    for (let loads = 1; ; loads += 1) {
      const next = this.#generation(start);
      try {
        return await this.#replaceBy(next);
      } catch (error) {
        const isLatest = !this.#stopping && this.#started === next.number;
        const wasKilled = !next.isLoaded && next.pool.restarts.killed > 0;
        if (!isLatest || loads === MOST_LOADS || !wasKilled) throw error;
      }
    }
  }

  async #replaceBy(next: Generation): Promise<boolean> {
    // The first generation accepts requests at once; they wait until it has loaded.
    this.#serving ??= next;
    try {
      await next.pool.start();
      next.isLoaded = true;
      // An edit takes effect before its check, which takes as long as the load.
      if (this.#serving.number < next.number) this.#serving = next;
      await next.verified;
    } catch (error) {
      if (this.#serving === next) this.#serving = this.#lastWorking;
      this.#leave(next, 'stop');
      throw error;
    }
    // A later generation may have been faster.
    if (this.#stopping || (this.#lastWorking?.number ?? 0) > next.number) {
      this.#leave(next, 'retire');
      return false;
    }
    this.#lastWorking = next;
    for (const other of this.#generations) if (other.number < next.number) this.#leave(other, 'retire');
    return true;
  }

  async shiftClock(offsetMs: number): Promise<void> {
    await Promise.all([...this.#generations].map(({ pool }) => pool.shiftClock(offsetMs)));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#generations].map(({ pool }) => pool.stop()));
    this.forwarder.close();
  }

  #generation({ env, secrets: atLoad, onFunctions, verify }: StartWorkers): Generation {
    const loaded = Promise.withResolvers<void>();
    const functions = new Map<string, FunctionSpec>();
    let secrets: Readonly<Record<string, string>> | undefined;
    const pool = new WorkerPool({
      ...this.#options,
      env,
      secrets: atLoad,
      onLoaded(specs, unset) {
        for (const spec of specs) if (spec.trigger.kind !== 'unsupported') functions.set(spec.name, spec);
        secrets ??= onFunctions(specs, unset);
        loaded.resolve();
        return secrets;
      },
    });
    // Starts when one worker can answer; others may still be starting.
    const verified = loaded.promise.then(() => verify?.(asking(pool, functions), functions));
    verified.catch(() => {});
    this.#started += 1;
    const generation = { number: this.#started, pool, functions, verified, isLoaded: false };
    this.#generations.add(generation);
    return generation;
  }

  /** The generation is forgotten when its workers have ended. */
  #leave(generation: Generation, end: 'retire' | 'stop'): void {
    void generation.pool[end]().finally(() => this.#generations.delete(generation));
  }
}
