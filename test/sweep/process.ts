/**
 * One process of the installation: real code over ports. Each call of a port is counted and may be the last. A dead process has
 * no effects, gets no answers, and its timers never fire.
 *
 * Must not: decide what runs in it, or when it is replaced.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { CachedRuntimeConfig } from '../../packages/cairn/src/engine/cached-runtime-config.ts';
import { Bindings } from '../../packages/cairn/src/engine/define/bindings.ts';
import type { Binding } from '../../packages/cairn/src/engine/define/capability.ts';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { KnownPlans } from '../../packages/cairn/src/engine/plans/known-plans.ts';
import { otherRuns } from '../../packages/cairn/src/operations/other-runs.ts';
import type { IdempotencyStore } from '../../packages/cairn/src/ports/idempotency-store.ts';
import type { RunStatistics } from '../../packages/cairn/src/ports/run-statistics.ts';
import type { LoadedRun } from '../../packages/cairn/src/ports/run-store.ts';
import type { PlanStore } from '../../packages/cairn/src/ports/runs/plan-store.ts';
import type { RuntimeConfigStore } from '../../packages/cairn/src/ports/runtime-config.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { type InterceptedCall, intercept, never, type Proceed } from '../support/intercept.ts';
import { seededRandomness } from '../support/world.ts';
import { type Calls, isOverlap, type Mode, TIMER } from './calls.ts';

/** Dependencies of the engine and the operations. */
export type ProcessDeps = EngineDeps & {
  readonly records: IdempotencyStore;
  readonly config: RuntimeConfigStore;
  readonly statistics: RunStatistics;
  readonly planStore: PlanStore;
};

/** Members of the dependencies that do not leave the process, or whose own members do. */
const INSIDE: ReadonlySet<string> = new Set([
  'bindings',
  'clock',
  'random',
  'log',
  'metrics',
  'tracer',
  'otherRuns',
  'dayLimits',
  'plans',
  'registry',
  'runtime',
  'settings',
  'shutdown',
]);

/** Time that a stalled process holds a call: longer than the claim of the second dispatch, shorter than a lease. */
const STALL_MS = 500;

const running = new AsyncLocalStorage<Process>();

export interface ProcessParams {
  readonly base: ProcessDeps;
  readonly calls: Calls;
  /** Differs for each process, because owners of leases must differ. */
  readonly seed: number;
  /** Called for every call that was applied, before anything else happens. */
  readonly onApplied: (label: string, call: InterceptedCall) => void;
  /** Called at the moment of a failure; if the call is applied, then after it. */
  readonly onDisturbed: (mode: Mode) => void;
}

export class Process {
  readonly deps: ProcessDeps;
  readonly #params: ProcessParams;
  readonly #timers = new Set<() => void>();
  readonly #shutdown = new AbortController();
  /** Sequence number of the newest event of each run that the store has returned to this process. */
  readonly #told = new Map<string, number>();
  #alive = true;

  constructor(params: ProcessParams) {
    this.#params = params;
    const { base, seed } = params;
    const ports = Object.entries(base).filter(([name, port]) => port !== undefined && !INSIDE.has(name));
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
    // The memory of a process ends with it.
    const own = {
      ...counted,
      runtime: new CachedRuntimeConfig(counted.config, counted.clock),
      plans: new KnownPlans({ ...counted, store: counted.planStore }),
    };
    this.deps = { ...own, otherRuns: otherRuns(own) };
  }

  /** The process whose code is running; undefined outside of all processes. */
  static get current(): Process | undefined {
    return running.getStore();
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** True if the queue has delivered its tasks again while the process lives. */
  isOutlived = false;

  /** True if it was asked to end, so that it gets no more work. */
  get leaving(): boolean {
    return this.#shutdown.signal.aborted;
  }

  /** Sequence number of the newest event of the run that the store has returned to this process; 0 if none. */
  toldOf(runId: string): number {
    return this.#told.get(runId) ?? 0;
  }

  /** Timers that have neither fired nor been cancelled. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Runs work in this process. A synchronous error becomes a rejection, as for a remote caller. */
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

  async #call(label: string, call: InterceptedCall, proceed: Proceed): Promise<unknown> {
    if (!this.#alive) return never();
    const mode = this.#params.calls.note(label);
    if (mode === 'before') return this.#die(mode);
    if (isOverlap(mode)) this.#params.onDisturbed(mode);
    if (mode === 'stalled') {
      await new Promise<void>((resolve) => this.#params.base.clock.timer(STALL_MS, resolve));
      if (!this.#alive) return never();
    }
    const answer = proceed();
    // A process that dies does not handle the rejection.
    answer.catch(() => {});
    this.#params.onApplied(label, call);
    if (mode === 'after') return this.#die(mode);
    if (mode === 'unanswered' || mode === 'terminate') this.#params.onDisturbed(mode);
    if (mode === 'terminate') this.terminate();
    try {
      if (mode === 'unanswered') {
        await answer.catch(() => {});
        throw new OutcomeUnknown(label, 'its answer was lost');
      }
      const result = await answer;
      if (this.#alive && label.startsWith('store.')) this.#noteTold(call, result);
      return this.#alive ? result : never();
    } catch (error) {
      if (this.#alive) throw error;
      return never();
    }
  }

  #noteTold({ method, args }: InterceptedCall, told: unknown): void {
    const [runId] = args;
    if (typeof runId !== 'string') return;
    const seq =
      method === 'load'
        ? (told as LoadedRun | undefined)?.state.head
        : method === 'readEvents' && (told as readonly RunEvent[]).at(-1)?.seq;
    if (seq) this.#told.set(runId, Math.max(seq, this.toldOf(runId)));
  }

  /** A binding acts externally: its effect may happen without its response arriving. */
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
    let held = () => {};
    const unset = this.#params.base.clock.timer(delayMs, () => {
      this.#timers.delete(cancel);
      const mode = this.#params.calls.note(TIMER);
      if (mode === 'before') return void this.#die(mode);
      if (isOverlap(mode)) this.#params.onDisturbed(mode);
      if (mode === 'stalled') {
        held = this.#params.base.clock.timer(STALL_MS, () => this.#alive && running.run(this, fire));
        return;
      }
      running.run(this, fire);
      if (mode === 'after') return void this.#die(mode);
      if (mode === 'terminate') {
        this.#params.onDisturbed(mode);
        this.terminate();
      }
    });
    const cancel = () => {
      unset();
      held();
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
