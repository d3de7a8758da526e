/**
 * A queue of Cloud Tasks: dispatches in order of arrival, with a rate limit and a concurrency limit. A refused task is repeated
 * after a doubling back-off. Pure: decides the time and passes the task on.
 */
import type { EventQueue } from './event-queue.ts';
import { Fifo } from './fifo.ts';
import { RateLimit } from './rate-limit.ts';

interface QueueLimits {
  readonly dispatchesPerSecond: number;
  readonly concurrent: number;
  /** Tasks allowed at once after a rest. */
  readonly burst: number;
  readonly minBackoffMs: number;
  readonly maxBackoffMs: number;
}

export class TaskQueue<Task> {
  readonly #events: EventQueue;
  readonly #limits: QueueLimits;
  readonly #rate: RateLimit;
  readonly #dispatch: (task: Task) => void;
  readonly #waiting = new Fifo<Task>();
  readonly #refusals = new Map<Task, number>();
  #underWay = 0;
  /** True if the next dispatch waits for the rate. */
  #isTimed = false;
  /** Maximum of concurrent dispatches. */
  mostUnderWay = 0;
  /** Wait time of tasks because of the concurrency limit and the rate limit, ms. */
  readonly waitedMs = { concurrent: 0, rate: 0 };
  #lastAt = 0;

  constructor(events: EventQueue, limits: QueueLimits, dispatch: (task: Task) => void) {
    this.#events = events;
    this.#limits = limits;
    this.#rate = new RateLimit({ perSecond: limits.dispatchesPerSecond, burst: limits.burst });
    this.#dispatch = dispatch;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  add(task: Task): void {
    this.#account();
    this.#waiting.add(task);
    this.#next();
  }

  /** The dispatch was answered. */
  done(task: Task): void {
    this.#account();
    this.#refusals.delete(task);
    this.#underWay -= 1;
    this.#next();
  }

  /** The dispatch was refused; the task is repeated. */
  refused(task: Task): void {
    this.#account();
    const refusals = this.#refusals.get(task) ?? 0;
    this.#refusals.set(task, refusals + 1);
    this.#underWay -= 1;
    const { minBackoffMs, maxBackoffMs } = this.#limits;
    const backoffMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** Math.min(refusals, 30));
    this.#events.add(this.#events.now + backoffMs, () => this.add(task));
    this.#next();
  }

  #next(): void {
    while (!this.#isTimed && this.#waiting.size > 0 && this.#underWay < this.#limits.concurrent) {
      const waitMs = this.#rate.take(this.#events.now);
      this.#underWay += 1;
      this.mostUnderWay = Math.max(this.mostUnderWay, this.#underWay);
      if (waitMs <= 0) {
        this.#dispatch(this.#waiting.take() as Task);
        continue;
      }
      this.#isTimed = true;
      this.#events.add(this.#events.now + waitMs, () => {
        this.#account();
        this.#isTimed = false;
        this.#dispatch(this.#waiting.take() as Task);
        this.#next();
      });
    }
  }

  /** Adds the time since the last change to the limit that delayed tasks. */
  #account(): void {
    const { now } = this.#events;
    if (this.#waiting.size > 0) {
      const held = this.#isTimed ? 'rate' : 'concurrent';
      this.waitedMs[held] += (now - this.#lastAt) * this.#waiting.size;
    }
    this.#lastAt = now;
  }
}
