/**
 * The functions of one codebase and the workers that serve them. Owns which generation of workers gets requests: one that was
 * started later takes the place of the one before once it serves.
 *
 * Must not: cut what a replaced generation has in hand.
 */
import { Forwarder } from './forward.ts';
import type { FunctionSpec } from './function-spec.ts';
import { type PoolOptions, WorkerPool } from './workers/worker-pool.ts';

export interface Codebase {
  readonly name: string;
  /** Absolute path of the module that exports its functions. */
  readonly module: string;
  /** In front of the names of its functions, with its dash. */
  readonly prefix?: string;
  /** Added to the environment of all functions for those of this codebase. */
  readonly env?: Readonly<Record<string, string>>;
  /** True if it has no functions of task queues whose bodies others must be kept from: one worker serves all. */
  readonly isPlain?: boolean;
}

export interface StartWorkers {
  readonly env: Readonly<Record<string, string>>;
  /** Called once, with the functions that the module exports; answers with the values of their secrets. */
  onFunctions(functions: readonly FunctionSpec[]): Readonly<Record<string, string>>;
  /** Asks the new workers something before those that they replace end. What it throws is why they cannot be loaded. */
  verify?(ask: AskFunction, functions: ReadonlyMap<string, FunctionSpec>): Promise<void>;
}

/** A GET of a path of a function. */
export type AskFunction = (
  functionName: string,
  path: string,
  headers: Record<string, string>,
) => Promise<Response>;

/** Workers that loaded the same state of the module. */
interface Generation {
  /** Higher for a codebase that was loaded later. */
  readonly number: number;
  readonly pool: WorkerPool;
  readonly functions: ReadonlyMap<string, FunctionSpec>;
  /** It has answered what it was asked; never settles if it cannot be loaded. */
  readonly verified: Promise<void>;
}

function asking({ pool, functions }: Pick<Generation, 'pool' | 'functions'>): AskFunction {
  return async (name, path, headers) => {
    const spec = functions.get(name);
    if (spec === undefined) throw new Error(`no function named '${name}'`);
    const { port, release } = await pool.acquireAside(spec);
    try {
      return await fetch(`http://127.0.0.1:${port}/${name}${path}`, {
        headers,
        signal: AbortSignal.timeout(spec.timeoutSeconds * 1000),
      });
    } finally {
      release();
    }
  };
}

export class ServedCodebase {
  readonly #options: Omit<PoolOptions, 'env' | 'onLoaded'>;
  /** All that have workers: the one that serves, those that start, those that finish what they have in hand. */
  readonly #generations = new Set<Generation>();
  #serving: Generation | undefined;
  /** The newest that has answered what it was asked: it serves again if a later one turns out to be of no use. */
  #proven: Generation | undefined;
  #started = 0;
  #stopping = false;
  readonly forwarder = new Forwarder({ pool: () => (this.#serving as Generation).pool });

  constructor(options: Omit<PoolOptions, 'env' | 'onLoaded'>) {
    this.#options = options;
  }

  /** Those of the generation that serves; empty before one is loaded. */
  get functions(): ReadonlyMap<string, FunctionSpec> {
    return this.#serving?.functions ?? new Map();
  }

  get pids(): number[] {
    return [...this.#generations].flatMap(({ pool }) => pool.pids);
  }

  get pidsByRole(): Readonly<Record<string, readonly number[]>> {
    return this.#serving?.pool.pidsByRole ?? {};
  }

  /**
   * Loads the module as it is now; resolves when it serves and is known to be of use. Those that served before finish what they
   * have in hand.
   *
   * @throws the reason if it cannot be loaded; then those that served before serve again
   */
  async start(start: StartWorkers): Promise<void> {
    const next = this.#generation(start);
    // The first takes requests at once and has them wait.
    this.#serving ??= next;
    try {
      await next.pool.start();
      // An edit is seen at once; what it is asked takes as long again.
      if (this.#serving.number < next.number) this.#serving = next;
      await next.verified;
    } catch (error) {
      if (this.#serving === next) this.#serving = this.#proven;
      this.#leave(next, 'stop');
      throw error;
    }
    // One that was started later may have come first.
    if (this.#stopping || (this.#proven?.number ?? 0) > next.number) return this.#leave(next, 'retire');
    this.#proven = next;
    for (const other of this.#generations) if (other.number < next.number) this.#leave(other, 'retire');
  }

  async shiftClock(offsetMs: number): Promise<void> {
    await Promise.all([...this.#generations].map(({ pool }) => pool.shiftClock(offsetMs)));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#generations].map(({ pool }) => pool.stop()));
    this.forwarder.close();
  }

  #generation({ env, onFunctions, verify }: StartWorkers): Generation {
    const loaded = Promise.withResolvers<void>();
    const functions = new Map<string, FunctionSpec>();
    let secrets: Readonly<Record<string, string>> | undefined;
    const pool = new WorkerPool({
      ...this.#options,
      env,
      onLoaded(specs) {
        for (const spec of specs) functions.set(spec.name, spec);
        secrets ??= onFunctions(specs);
        loaded.resolve();
        return secrets;
      },
    });
    // As soon as a worker can answer, others may be starting still.
    const verified = loaded.promise.then(() => verify?.(asking({ pool, functions }), functions));
    verified.catch(() => {});
    this.#started += 1;
    const generation = { number: this.#started, pool, functions, verified };
    this.#generations.add(generation);
    return generation;
  }

  /** It is forgotten when its workers have ended. */
  #leave(generation: Generation, end: 'retire' | 'stop'): void {
    void generation.pool[end]().finally(() => this.#generations.delete(generation));
  }
}
