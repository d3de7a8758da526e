/**
 * One process of the installation: real code over ports each of whose calls is counted and may be the last. Once it is
 * dead, nothing it does has any effect, nothing answers it, and its timers never fire.
 *
 * Must not: decide what runs in it, or when it is replaced.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { CachedRuntimeConfig } from '../../functions/src/engine/cached-runtime-config.ts';
import { Bindings } from '../../functions/src/engine/define/bindings.ts';
import type { Binding } from '../../functions/src/engine/define/capability.ts';
import type { EngineDeps } from '../../functions/src/engine/deps.ts';
import { otherRuns } from '../../functions/src/operations/other-runs.ts';
import type { IdempotencyStore } from '../../functions/src/ports/idempotency-store.ts';
import type { RunCensus } from '../../functions/src/ports/run-census.ts';
import type { RuntimeConfigStore } from '../../functions/src/ports/runtime-config.ts';
import { OutcomeUnknown } from '../../functions/src/ports/store-errors.ts';
import { type Call, intercept, never, type Proceed } from '../support/intercept.ts';
import { seededRandomness } from '../support/world.ts';
import { type Calls, type Mode, TIMER } from './calls.ts';

/** What the engine and the operations need. */
export type ProcessDeps = EngineDeps & {
  readonly records: IdempotencyStore;
  readonly config: RuntimeConfigStore;
  readonly census: RunCensus;
};

/** Members of the dependencies that are no way out of the process, or of whose parts each is one. */
const INSIDE: ReadonlySet<string> = new Set([
  'bindings',
  'clock',
  'random',
  'log',
  'metrics',
  'tracer',
  'otherRuns',
  'registry',
  'runtime',
  'settings',
  'shutdown',
]);

const running = new AsyncLocalStorage<Process>();

export interface ProcessParams {
  readonly base: ProcessDeps;
  readonly calls: Calls;
  /** Another one for each process: owners of leases must differ. */
  readonly seed: number;
  /** Told of every call that was applied, before anything else happens. */
  readonly onApplied: (label: string, call: Call) => void;
  /** Told at the moment something goes wrong, after the call was applied where it was. */
  readonly onDisturbed: (mode: Mode) => void;
}

export class Process {
  readonly deps: ProcessDeps;
  readonly #params: ProcessParams;
  readonly #timers = new Set<() => void>();
  readonly #shutdown = new AbortController();
  #alive = true;

  constructor(params: ProcessParams) {
    this.#params = params;
    const { base, seed } = params;
    const ports = Object.entries(base).filter(([name]) => !INSIDE.has(name));
    const counted: ProcessDeps = {
      ...base,
      ...Object.fromEntries(
        ports.map(([name, port]) => [
          name,
          intercept(port as object, (call, proceed) => this.#call(`${name}.${call.method}`, call, proceed)),
        ]),
      ),
      bindings: new Bindings(base.bindings.all.map((binding) => this.#bound(binding))),
      clock: { now: () => base.clock.now(), timer: (delayMs, fire) => this.#timer(delayMs, fire) },
      random: seededRandomness(seed),
      shutdown: this.#shutdown.signal,
    };
    // What a process remembers of the configuration dies with it.
    const own = { ...counted, runtime: new CachedRuntimeConfig(counted.config, counted.clock) };
    this.deps = { ...own, otherRuns: otherRuns(own) };
  }

  /** The process whose code is running; undefined outside of all of them. */
  static get current(): Process | undefined {
    return running.getStore();
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** It was asked to end, and takes nothing new. */
  get leaving(): boolean {
    return this.#shutdown.signal.aborted;
  }

  /** Timers that have neither fired nor been cancelled. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Runs work in this process. What it throws at once is a rejection, as a caller elsewhere would see it. */
  run<T>(work: (deps: ProcessDeps) => Promise<T>): Promise<T> {
    return running.run(this, async () => work(this.deps));
  }

  /** SIGKILL. */
  kill(): void {
    this.#alive = false;
    for (const cancel of [...this.#timers]) cancel();
  }

  /** SIGTERM. */
  terminate(): void {
    running.run(this, () => this.#shutdown.abort());
  }

  async #call(label: string, call: Call, proceed: Proceed): Promise<unknown> {
    if (!this.#alive) return never();
    const mode = this.#params.calls.note(label);
    if (mode === 'before') return this.#die(mode);
    const answer = proceed();
    // Whoever dies does not hear of it.
    answer.catch(() => {});
    this.#params.onApplied(label, call);
    if (mode === 'after') return this.#die(mode);
    if (mode !== undefined) this.#params.onDisturbed(mode);
    if (mode === 'terminate') this.terminate();
    try {
      if (mode === 'unanswered') {
        await answer.catch(() => {});
        throw new OutcomeUnknown(label, 'its answer was lost');
      }
      const told = await answer;
      return this.#alive ? told : never();
    } catch (error) {
      if (this.#alive) throw error;
      return never();
    }
  }

  /** What a binding does is outside: it may happen, and nobody hear of it. */
  #bound(binding: Binding): Binding {
    const { call, lookup } = binding;
    const through = (method: 'call' | 'lookup', args: readonly unknown[], proceed: () => Promise<unknown>) =>
      this.#call(`receiver.${method}`, { method, args }, proceed);
    return {
      ...binding,
      call: (...args) => through('call', args, () => call(...args)),
      ...(lookup
        ? { lookup: (...args) => through('lookup', args, () => lookup(...args)) as ReturnType<typeof lookup> }
        : {}),
    };
  }

  #timer(delayMs: number, fire: () => void): () => void {
    if (!this.#alive) return () => {};
    const unset = this.#params.base.clock.timer(delayMs, () => {
      this.#timers.delete(cancel);
      const mode = this.#params.calls.note(TIMER);
      if (mode === 'before') return void this.#die(mode);
      running.run(this, fire);
      if (mode === 'after') return void this.#die(mode);
      if (mode !== undefined) this.#params.onDisturbed(mode);
      if (mode === 'terminate') this.terminate();
    });
    const cancel = () => {
      unset();
      this.#timers.delete(cancel);
    };
    this.#timers.add(cancel);
    return cancel;
  }

  #die(mode: Mode): Promise<never> {
    this.kill();
    this.#params.onDisturbed(mode);
    return never();
  }
}
