/**
 * Fault injection, drawn from a seed so that a failing test can be repeated. Only decides; the adapter executes the faults.
 */
import { generator } from './seeded.ts';

export type InjectedFault =
  /** Answers late. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Refuses with ABORTED or UNAVAILABLE; nothing is applied. */
  | { readonly kind: 'aborted' }
  | { readonly kind: 'unavailable' }
  /** Applies the request, then answers UNAVAILABLE, as if the answer had been lost. */
  | { readonly kind: 'lost-answer' }
  /** Ends a stream of answers with UNAVAILABLE after this number of messages. */
  | { readonly kind: 'cut-stream'; readonly afterMessages: number }
  /** Applies the request durably, then ends the process without an answer. */
  | { readonly kind: 'crash' };

/** JSON-able. Each kind of server has its own kinds of faults. */
export interface FaultRule<Kind = InjectedFault> {
  /** Name of the call, e.g. `Commit`; absent: any. */
  readonly call?: string;
  /** Only requests that touch a document or collection whose path contains this text; absent: any. */
  readonly path?: string;
  /** Probability that a call is affected, 0 to 1. */
  readonly probability: number;
  /** Number of matching calls that are skipped first. */
  readonly after?: number;
  /** Most injections; absent: unlimited. */
  readonly times?: number;
  readonly fault: Kind;
}

export class Faults<Kind extends { readonly kind: string } = InjectedFault> {
  readonly #crash: (() => void) | undefined;
  #rules: { readonly rule: FaultRule<Kind>; left: number; spared: number }[] = [];
  #random: () => number = generator(0);
  readonly #injected = new Map<string, number>();

  /** `crash` ends the process immediately; without it, rules that crash are refused. */
  constructor(crash?: () => void) {
    this.#crash = crash;
  }

  /** Replaces all rules; the draws restart from `seed`. */
  set(rules: readonly FaultRule<Kind>[], seed: number): void {
    for (const { probability, fault } of rules) {
      if (fault.kind === 'crash' && !this.#crash) throw new Error('This server cannot be made to crash.');
      if (!(probability >= 0 && probability <= 1))
        throw new Error(`Probability ${probability} is not within 0 to 1.`);
    }
    this.#rules = rules.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY, spared: 0 }));
    this.#random = generator(seed);
    this.#injected.clear();
  }

  clear(): void {
    this.set([], 0);
  }

  /** Number of injected faults by kind since the rules were set. */
  injected(): Record<string, number> {
    return Object.fromEntries(this.#injected);
  }

  crash(): void {
    this.#crash?.();
  }

  /**
   * Draws a fault for this call from the rules in order; the first drawn one applies. `paths` is only called when a rule needs it.
   */
  draw(call: string, paths: () => readonly string[]): Kind | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      if (entry.left <= 0 || (rule.call !== undefined && rule.call !== call)) continue;
      if (rule.path !== undefined && !paths().some((path) => path.includes(rule.path as string))) continue;
      if (entry.spared++ < (rule.after ?? 0)) continue;
      if (this.#random() >= rule.probability) continue;
      entry.left--;
      this.#injected.set(rule.fault.kind, (this.#injected.get(rule.fault.kind) ?? 0) + 1);
      return rule.fault;
    }
    return undefined;
  }
}
