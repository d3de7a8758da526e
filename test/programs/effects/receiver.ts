/**
 * The receiver of side effects. It outlives all processes, and its own count of requests and actions judges the ledger. Unlike
 * a real receiver, it knows which requests are still on their way. So its lookup never denies an action that comes later, which
 * no ledger could correct.
 *
 * Must not: know runs, steps or rows, except the run for which it acted.
 */
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { type Clock, pause } from '../../../packages/cairn/src/ports/clock.ts';
import { never } from '../../support/intercept.ts';
import type { Draw } from '../data/draw.ts';
import type { Welcome } from './plan.ts';

/** One call of a binding, from its beginning to its arrival. */
export interface Letter {
  readonly key: string;
  readonly what: string;
  readonly dedupes: boolean;
  readonly runId: string;
  readonly welcome: Welcome;
  readonly isAlive: () => boolean;
}

export interface Applied {
  readonly serial: number;
  readonly key: string;
  readonly what: string;
  readonly runId: string;
}

/** Outcomes of one key, counted. */
export interface Count {
  sent: number;
  refused: number;
  /** Lookups that found nothing. */
  missed: number;
}

export class Receiver {
  readonly applied: Applied[] = [];
  readonly counts = new Map<string, Count>();
  readonly #underWay = new Set<Letter>();
  readonly #draw: Draw;
  readonly #clock: Clock;

  constructor(draw: Draw, clock: Clock) {
    this.#draw = draw;
    this.#clock = clock;
  }

  /** Begins a call, which may arrive at any time from now on, even if its sender has given up. */
  send(letter: Letter): void {
    if (!letter.isAlive()) return;
    this.countOf(letter.key).sent += 1;
    this.#underWay.add(letter);
  }

  /** Removes a call that will never arrive. */
  drop(letter: Letter): void {
    this.#underWay.delete(letter);
  }

  /** Lets the call arrive. Only here does the action take place. */
  async arrive(letter: Letter): Promise<{ readonly serial: number }> {
    this.#underWay.delete(letter);
    const { key, what, dedupes, welcome, runId } = letter;
    const count = this.countOf(key);
    const before = this.find(key);
    if (!before && count.refused < REFUSALS[welcome]) {
      count.refused += 1;
      throw this.#refusal(welcome);
    }
    const found = dedupes ? before : undefined;
    const { serial } = found ?? this.#apply({ key, what, runId });
    return this.#answer({ serial });
  }

  async look(key: string): Promise<{ readonly found: boolean; readonly serial: number }> {
    if (this.isUnderWay(key)) throw new Error('it may still be on its way');
    const found = this.find(key);
    if (!found) this.countOf(key).missed += 1;
    return { found: found !== undefined, serial: found?.serial ?? 0 };
  }

  isUnderWay(key: string): boolean {
    return [...this.#underWay].some((letter) => letter.key === key && letter.isAlive());
  }

  find(key: string): Applied | undefined {
    return this.applied.find((one) => one.key === key);
  }

  countOf(key: string): Count {
    const count = this.counts.get(key) ?? { sent: 0, refused: 0, missed: 0 };
    this.counts.set(key, count);
    return count;
  }

  #apply(action: Omit<Applied, 'serial'>): Applied {
    const applied = { serial: this.applied.length + 1, ...action };
    this.applied.push(applied);
    return applied;
  }

  /** Answers at once, late, very late, or never. */
  async #answer<T>(answer: T): Promise<T> {
    const ms = this.#draw.weighted([
      [20, 0],
      [4, this.#draw.below(2_000)],
      [2, this.#draw.below(30_000)],
      [1, this.#draw.below(300_000)],
      [0.4, Number.POSITIVE_INFINITY],
    ]);
    if (ms === Number.POSITIVE_INFINITY) return never();
    if (ms > 0) await pause(this.#clock, ms);
    if (this.#draw.chance(0.05)) throw new Error('the answer cannot be read');
    return answer;
  }

  #refusal(welcome: Welcome): NotApplied {
    if (welcome === 'refused_for_good') return new NotApplied('never', { final: true });
    if (this.#draw.chance(0.5)) return new NotApplied('not now');
    return new NotApplied('later', { retryAt: this.#clock.now() + this.#draw.below(120_000) });
  }
}

const REFUSALS: Readonly<Record<Welcome, number>> = {
  taken: 0,
  refused_once: 1,
  refused_twice: 2,
  refused_for_good: Number.POSITIVE_INFINITY,
};
