/**
 * A queue that delivers nothing by itself: a test driver takes due tasks, in any order. A name is never accepted twice.
 * Cloud Tasks is less strict: it forgets names after hours.
 */
import type { DriveTask, TaskQueue } from '../ports/task-queue.ts';

/** An undelivered task. `id` counts accepted tasks, to distinguish equal ones. */
export interface QueuedTask extends DriveTask {
  readonly id: number;
  /** Number of earlier deliveries, and whether the last one was answered. */
  readonly retryCount: number;
  readonly answered?: boolean;
}

/** The request for a dispatch, built from a task as the function handlers build it from the headers of the queue. */
export function driveRequestOf({
  runId,
  alone,
  pool,
  watches,
  skipsBackoff,
  id,
  retryCount,
  answered = false,
}: QueuedTask) {
  return { runId, alone, pool, watches, skipsBackoff, delivery: { name: String(id), retryCount, answered } };
}

export class MemoryTaskQueue implements TaskQueue {
  readonly #pending = new Map<number, QueuedTask>();
  readonly #names = new Set<string>();
  #accepted = 0;

  async enqueue(task: DriveTask): Promise<void> {
    if (task.name !== undefined) {
      if (this.#names.has(task.name)) return;
      this.#names.add(task.name);
    }
    this.#accepted += 1;
    this.#pending.set(this.#accepted, Object.freeze({ ...task, id: this.#accepted, retryCount: 0 }));
  }

  /** Redelivers a task that was taken, because its delivery failed. */
  repeat(task: QueuedTask, { at, answered }: { readonly at: number; readonly answered: boolean }): void {
    const retryCount = task.retryCount + 1;
    this.#pending.set(task.id, Object.freeze({ ...task, at, answered, retryCount }));
  }

  /** All tasks that were not taken, in the order of acceptance. */
  get pending(): readonly QueuedTask[] {
    return [...this.#pending.values()];
  }

  /** Tasks that may be delivered at `now` (epoch ms), earliest first. */
  due(now: number): readonly QueuedTask[] {
    return this.pending
      .filter((task) => (task.at ?? Number.NEGATIVE_INFINITY) <= now)
      .sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || a.id - b.id);
  }

  /** Time of the next deliverable task, epoch ms; 0 if one is due, undefined if there is none. */
  nextAt(): number | undefined {
    const times = this.pending.map((task) => task.at ?? 0);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Removes a task, to deliver it or to lose it. Without an id: the one that was accepted first. */
  take(id?: number): QueuedTask | undefined {
    const task = id === undefined ? this.#pending.values().next().value : this.#pending.get(id);
    if (task) this.#pending.delete(task.id);
    return task;
  }
}
