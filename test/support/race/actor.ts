/**
 * One process of a race: runs real code over ports whose every call waits at a gate until somebody lets it through,
 * and says how it is answered. Keeps what the process has been told, which is all that its future depends on.
 *
 * Must not: decide who goes next.
 */
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import type { Clock } from '../../../packages/cairn/src/ports/clock.ts';
import type { Randomness } from '../../../packages/cairn/src/ports/randomness.ts';
import type { LoadedRun } from '../../../packages/cairn/src/ports/run-store.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { type InterceptedCall, intercept, type Proceed } from '../intercept.ts';

/**
 * Response to a call. Other faults are equivalent to one of these:
 * - a commit that never arrived is sent again, so it is the commit of a slower process;
 * - a client library that repeats a call by itself, and reports that the second found the first, is `lost_after` with
 * the resend at once, whose response is the same at any time;
 * - a process that dies later, before its next write, has done nothing more that is visible.
 */
export type Answer = 'told' | 'lost_after' | 'lost_before' | 'told_then_dies';

/** A call that waits at the gate. */
export interface Waiting {
  readonly label: string;
  readonly kind: 'read' | 'write' | 'beat';
  /** When it may go on, epoch ms. */
  readonly at: number;
  /** It may as well happen at once (see `#mayHappenAtOnce`). */
  readonly private: boolean;
  pass(answer: Answer): void;
}

/** Longest pause between two sendings of one commit; timers that run longer belong to the beat of a drive. */
const LONGEST_PAUSE_MS = 1_000;
/**
 * Reads whose moment makes no difference: of bytes that never change once they can be asked for, and of runs whose lease is watched,
 * which leads to nothing but tasks, and nobody in the race sees the queue.
 */
const UNGATED: ReadonlySet<string> = new Set(['readCheckpoints', 'silentRuns']);
/** Calls that are resent unchanged while their outcome is unknown; after others something else may follow. */
const RESENT: ReadonlySet<string> = new Set(['commit', 'touch']);
const WRITES: ReadonlySet<string> = new Set(['commit', 'touch', 'enqueue', 'write']);

export class Actor {
  readonly name: string;
  readonly waiting: Waiting[] = [];
  /** End of its work; undefined while it is running. */
  outcome: string | undefined;
  /** Violation, if any. */
  failure: unknown;
  #told = '';
  #dying = false;
  #hurried: boolean;
  #applied = 0;
  #drawn = 0;
  readonly #forgets: boolean;
  readonly #beats: boolean;
  #loads = 0;
  readonly #base: EngineDeps;

  /**
   * @param outside for who appends the same whatever it finds. A late load is an early one whose commit is refused; and of
   *   all it was told only the last matters.
   * @param beats whether drives have the time to touch the snapshot: only then does it matter which version they saw,
   *   and a load may be part of something longer
   */
  constructor(name: string, base: EngineDeps, { outside, beats }: { outside: boolean; beats: boolean }) {
    this.name = name;
    this.#beats = beats;
    this.#hurried = this.#forgets = outside;
    this.#base = base;
  }

  /** @param tolerated names of errors that this work may end with */
  begin(tolerated: readonly string[], work: (deps: EngineDeps) => Promise<string>): void {
    const gate = (call: InterceptedCall, proceed: Proceed) => this.#gate(call, proceed);
    const deps: EngineDeps = {
      ...this.#base,
      store: intercept(this.#base.store, gate),
      queue: intercept(this.#base.queue, gate),
      mailboxes: intercept(this.#base.mailboxes, gate),
      clock: this.#clock(),
      random: this.#randomness(),
    };
    work(deps).then(
      (outcome) => this.#end(outcome),
      (error: unknown) => {
        const name = error instanceof Error ? error.name : 'unknown';
        if (!tolerated.includes(name)) this.failure = error;
        this.#end(name);
      },
    );
  }

  /** It never does anything again. */
  crash(): void {
    this.#end('crashed');
  }

  get started(): boolean {
    return this.outcome !== undefined || this.#told !== '';
  }

  /** Equal for two actors that will do the same. */
  get key(): string {
    return this.outcome ?? this.#told;
  }

  #end(outcome: string): void {
    if (this.outcome === 'crashed') return;
    this.outcome = this.#dying ? 'crashed' : outcome;
    this.waiting.length = 0;
  }

  #gate({ method }: InterceptedCall, proceed: Proceed): Promise<unknown> {
    if (UNGATED.has(method)) return proceed();
    const kind = WRITES.has(method) ? 'write' : 'read';
    const what = { label: method, kind, at: 0, private: this.#mayHappenAtOnce(method) } as const;
    return new Promise((resolve, reject) => {
      this.#wait(what, async (answer) => {
        this.#hurried = answer === 'lost_after' && RESENT.has(method);
        this.#dying = answer === 'told_then_dies';
        try {
          if (answer === 'lost_before') throw new OutcomeUnknown(method, 'it never arrived');
          const result = await proceed();
          if (!wasRefused(result)) this.#applied += 1;
          if (answer === 'lost_after') throw new OutcomeUnknown(method, 'its answer was lost');
          this.#hurried = method === 'dueRuns' || wasRefused(result);
          this.#note(method, this.#digest(result));
          resolve(result);
        } catch (error) {
          this.#note(method, error instanceof Error ? error.name : 'unknown');
          reject(error);
        }
      });
    });
  }

  /**
   * Calls whose moment makes no difference, so that only one order needs to be tried:
   * - nobody in the race sees the queue;
   * - a commit that was applied, or came too late, would be refused at any later time: so it can be the moment of the
   *   read that follows;
   * - if the snapshot changes between the scan's query and its touch, the scan does nothing.
   */
  #mayHappenAtOnce(method: string): boolean {
    return method === 'enqueue' || this.#hurried;
  }

  /** Unique among all that is stored; what was refused is drawn again, so that it does not make states differ. */
  #randomness(): Randomness {
    const token = () => {
      this.#drawn += 1;
      return `${this.name}.${this.#applied}.${this.#drawn}`;
    };
    return { unit: () => 0.5, token, runId: token };
  }

  #clock(): Clock {
    const { clock } = this.#base;
    return {
      now: () => clock.now(),
      timer: (delayMs, fire) => {
        if (delayMs <= LONGEST_PAUSE_MS) {
          // Actions after a pause wait at the gate again: the end of the pause makes no difference.
          queueMicrotask(fire);
          return () => {};
        }
        const entry = this.#wait(
          { label: 'beat', kind: 'beat', at: clock.now() + delayMs, private: false },
          () => {
            this.#note('beat', '');
            fire();
          },
        );
        return () => this.#drop(entry);
      },
    };
  }

  #wait(what: Omit<Waiting, 'pass'>, go: (answer: Answer) => void): Waiting {
    const entry: Waiting = {
      ...what,
      pass: (answer) => {
        this.#drop(entry);
        go(answer);
      },
    };
    if (this.#dying && what.kind !== 'beat') this.crash();
    if (this.outcome === undefined) this.waiting.push(entry);
    return entry;
  }

  #drop(entry: Waiting): void {
    const index = this.waiting.indexOf(entry);
    if (index >= 0) this.waiting.splice(index, 1);
  }

  /** Short text that differs where two answers differ. A state is known by the hash of its last event. */
  #digest(answer: unknown): string {
    const text = (value: unknown) =>
      JSON.stringify(value, (name, member) =>
        name === 'snapshotVersion' && !this.#beats ? undefined : member,
      );
    if (Array.isArray(answer)) return answer.map((item) => item.hash ?? text(item)).join();
    if (!isLoadedRun(answer)) return text(answer);
    const { state, ...rest } = answer;
    return `${state.headHash}${text(rest)}`;
  }

  /** The time belongs to it: the code goes on at once, and may look at the clock. */
  #note(what: string, told: string): void {
    this.#drawn = 0;
    if (this.#forgets) this.#told = '';
    // An actor that loads the run starts over; only the count matters, because a drive reads a bounded number of times.
    if (what === 'load' && !this.#beats) this.#told = `${this.#loads++}.${this.#applied};`;
    this.#told += `${what}=${told}@${this.#base.clock.now()};`;
  }
}

function wasRefused(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null || !('kind' in answer)) return false;
  return answer.kind === 'exists' || answer.kind === 'stale';
}

function isLoadedRun(answer: unknown): answer is LoadedRun {
  return typeof answer === 'object' && answer !== null && 'snapshotHead' in answer;
}
