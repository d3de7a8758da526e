/**
 * One process of a race. Runs real code over ports whose calls wait at a gate until the explorer releases them with an
 * answer. Records the answers, on which alone the future of the process depends.
 *
 * Must not: decide which actor continues.
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
  /** Time from which it may continue, epoch ms. */
  readonly at: number;
  /** True if it can happen at once without loss of generality (see `#mayHappenAtOnce`). */
  readonly private: boolean;
  pass(answer: Answer): void;
}

/** Longest pause before a commit is sent again; longer timers are heartbeats of an attempt. */
const LONGEST_PAUSE_MS = 1_000;
/**
 * Reads whose time makes no difference: of immutable data, and of runs whose lease is watched, which only leads to tasks, and no actor
 * sees the queue.
 */
const UNGATED: ReadonlySet<string> = new Set(['readCheckpoints', 'silentRuns']);
/** Calls that are resent unchanged while their outcome is unknown; other calls may be followed by something else. */
const RESENT: ReadonlySet<string> = new Set(['commit', 'touch']);
const WRITES: ReadonlySet<string> = new Set(['commit', 'touch', 'enqueue', 'write']);

export class Actor {
  readonly name: string;
  readonly waiting: Waiting[] = [];
  /** Outcome of its work; undefined while it runs. */
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
   * @param outside true for an actor that appends the same whatever it reads. Then a late load equals an early one whose
   *   commit is refused, and only the last answer matters.
   * @param beats true if attempts have time to touch the snapshot. Only then their known version matters, and a load may be
   *   part of a longer operation
   */
  constructor(name: string, base: EngineDeps, { outside, beats }: { outside: boolean; beats: boolean }) {
    this.name = name;
    this.#beats = beats;
    this.#hurried = this.#forgets = outside;
    this.#base = base;
  }

  /** @param tolerated names of errors that may end the work */
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

  /** Stops the actor forever. */
  crash(): void {
    this.#end('crashed');
  }

  get started(): boolean {
    return this.outcome !== undefined || this.#told !== '';
  }

  /** Key that is equal only for actors with the same future. */
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
   * True for calls whose time makes no difference, so that only one order must be tried:
   * - calls of the queue, which no actor sees;
   * - a commit that was applied or came too late, because it would be refused at any later time, so it can happen together
   *   with the following read;
   * - the scan's touch: if the snapshot changes between its query and its touch, it does nothing.
   */
  #mayHappenAtOnce(method: string): boolean {
    return method === 'enqueue' || this.#hurried;
  }

  /** Values that are unique among stored ones. Values of refused writes are reused, so that they do not make states differ. */
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
          // Fires at once, because actions after a pause wait at the gate again.
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

  /** Digest of an answer. The hash of the last event identifies a state. */
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

  /** Records an answer with the time, because the code continues at once and may read the clock. */
  #note(what: string, told: string): void {
    this.#drawn = 0;
    if (this.#forgets) this.#told = '';
    // An actor that loads the run starts over. Only the number of loads matters, because an attempt reads a bounded number of times.
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
