/**
 * Diagnosis of the installation by this instance. Results are cached for some seconds, so that frequent requests cost
 * as much as one.
 *
 * Must not: change anything.
 */
import type { OperationReader } from '../../ports/diagnosis/operations.ts';
import type { DiagnosisFinding } from './finding.ts';
import {
  type CurrentObservations,
  type ObserveDeps,
  observeNow,
  observeSlowly,
  type SlowObservations,
  UNSEEN,
} from './observe.ts';

/** Short, so that an operator sees a fix; each diagnosis costs a read per due or leased run. */
export const FAST_TTL_MS = 5_000;
/** Indexes, versions and what has expired: some 20 reads, and two for each version in use by a tenant. */
export const SLOW_TTL_MS = 60_000;

export interface DiagnosisDeps extends ObserveDeps {
  /** Billed operations of this instance. */
  readonly operations: OperationReader;
}

export interface Diagnosis extends Omit<CurrentObservations, 'findings'> {
  /** Time of the diagnosis by the clock of the instance, epoch ms. */
  readonly at: number;
  readonly findings: readonly DiagnosisFinding[];
  readonly operations: OperationReader;
}

const ORDER: readonly DiagnosisFinding['state'][] = ['wrong', 'note', 'well'];

export class Diagnostician {
  readonly #deps: DiagnosisDeps;
  readonly #now: Shared<CurrentObservations>;
  readonly #slow: Shared<SlowObservations>;

  constructor(deps: DiagnosisDeps) {
    this.#deps = deps;
    this.#now = new Shared(deps, () => observeNow(deps), FAST_TTL_MS);
    this.#slow = new Shared(deps, () => observeSlowly(deps), SLOW_TTL_MS);
  }

  /** @throws CairnError UNAVAILABLE if no question could be answered */
  async diagnose(): Promise<Diagnosis> {
    const [{ value: now, at }, { value: slow }] = await Promise.all([this.#now.get(), this.#slow.get()]);
    const findings = [...now.findings, ...slow.findings].sort(
      (a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state),
    );
    return { ...now, at, findings, operations: this.#deps.operations };
  }
}

interface TimedResult<T> {
  readonly value: T;
  readonly at: number;
}

/** One answer for all callers within a time; one with unanswered questions is kept only briefly. */
class Shared<T extends { readonly findings: readonly DiagnosisFinding[] }> {
  readonly #clock: { now(): number };
  readonly #ask: () => Promise<T>;
  readonly #ttlMs: number;
  #known: { readonly result: Promise<TimedResult<T>>; until: number } | undefined;

  constructor({ clock }: { readonly clock: { now(): number } }, ask: () => Promise<T>, ttlMs: number) {
    this.#clock = clock;
    this.#ask = ask;
    this.#ttlMs = ttlMs;
  }

  get(): Promise<TimedResult<T>> {
    const at = this.#clock.now();
    if (this.#known && at < this.#known.until) return this.#known.result;
    const result = this.#ask().then((value) => ({ value, at }));
    const known = { result, until: at + this.#ttlMs };
    this.#known = known;
    const forgetSoon = ({ value }: TimedResult<T>) => {
      if (value.findings.some(({ code }) => code === UNSEEN))
        known.until = at + Math.min(this.#ttlMs, FAST_TTL_MS);
    };
    // The next caller repeats a failed diagnosis.
    result.then(forgetSoon, () => {
      if (this.#known === known) this.#known = undefined;
    });
    return result;
  }
}
