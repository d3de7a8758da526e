/**
 * The queues and tasks of one server and all operations on them. Owns the reserved names, and keeps index and storage consistent.
 * Independent of protobuf; arguments are validated.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Cancel, ServerClock } from '@cairn/local-kit/time/clock';
import { type Dispatch, withRunning } from './dispatch/attempt.ts';
import { notFound, queueExists, queueMissing, taskExistedRecently, taskExists, taskGone } from './errors.ts';
import { LIMITS, type QueueConfig, type TaskRecord } from './model.ts';
import { NONE_RUNNING, type QueueEntry, QueueRunner, type TaskEvents } from './queue-runner.ts';
import type { TaskStore } from './storage.ts';

/** Limit of task bodies in memory; other bodies are read from storage when due. */
const CACHED_BYTES = 64 * 1024 * 1024;
/** Approximate memory of a record besides its body. */
const RECORD_OVERHEAD_BYTES = 1024;
/** Interval at which expired tombstones and tasks are deleted. */
const SWEEP_MS = 10 * 60_000;

interface RegistryOptions {
  readonly store: TaskStore;
  readonly clock: ServerClock;
  readonly dispatch: Dispatch;
}

export interface RegistryCounts {
  created: number;
  dispatchesEnded: number;
  finished: number;
  retried: number;
}

export class TaskRegistry {
  readonly #store: TaskStore;
  readonly #clock: ServerClock;
  readonly #dispatch: Dispatch;
  readonly #queues = new Map<string, QueueRunner>();
  readonly #entries = new Map<string, QueueEntry>();
  readonly #events: TaskEvents;
  readonly counts: RegistryCounts = { created: 0, dispatchesEnded: 0, finished: 0, retried: 0 };
  #cachedBytes = 0;
  #cancelSweep: Cancel = () => {};

  /** Loads the stored queues and tasks; `start()` begins to dispatch. */
  constructor({ store, clock, dispatch }: RegistryOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#dispatch = dispatch;
    this.#events = {
      load: (entry) => store.task(entry.name),
      starting: ({ id }, { progress }, start) => store.startLater(id, progress, start),
      finished: (entry, record) => {
        this.counts.finished++;
        this.counts.dispatchesEnded++;
        this.#remove(entry, record.named);
      },
      retrying: (entry, dueAt, progress) => {
        this.counts.retried++;
        this.counts.dispatchesEnded++;
        store.retryLater(entry.name, dueAt, progress);
      },
    };
    for (const config of store.queues()) this.#addQueue(config);
    for (const head of store.heads()) {
      const state = {
        record: undefined,
        slot: undefined,
        running: NONE_RUNNING,
        isDeleted: false,
      };
      const entry: QueueEntry = { ...head, ...state };
      this.#entries.set(entry.name, entry);
      this.#queues.get(entry.queue)?.add(entry);
    }
  }

  start(): void {
    this.#sweep();
    for (const queue of this.#queues.values()) queue.pump();
  }

  queue(name: string): QueueConfig {
    return this.#runner(name, queueMissing).config;
  }

  hasQueue(name: string): boolean {
    return this.#queues.has(name);
  }

  /** The matching queues of a location, sorted by name, after the name `after`. */
  queues(
    location: string,
    after: string,
    { limit, matches }: { readonly limit: number; readonly matches: (queue: QueueConfig) => boolean },
  ): QueueConfig[] {
    return [...this.#queues.values()]
      .map((queue) => queue.config)
      .filter((queue) => queue.name.startsWith(`${location}/queues/`) && queue.name > after && matches(queue))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit);
  }

  createQueue(config: QueueConfig): QueueConfig {
    if (this.#queues.has(config.name)) throw queueExists();
    this.#store.putQueue(config);
    this.#addQueue(config);
    return config;
  }

  /** Replaces the queue's configuration; running dispatches continue. */
  configureQueue(config: QueueConfig): QueueConfig {
    const runner = this.#runner(config.name, queueMissing);
    if (isDeepStrictEqual(config, runner.config)) return config;
    this.#store.putQueue(config);
    runner.configure(config);
    return config;
  }

  deleteQueue(name: string): void {
    this.#runner(name, notFound).quiesce();
    this.#store.deleteQueue(name);
    this.#forgetTasksOf(name);
    this.#queues.delete(name);
  }

  purgeQueue(name: string): QueueConfig {
    const runner = this.#runner(name, queueMissing);
    const now = this.#clock.now();
    this.#store.purgeQueue(name, now + this.#dedupMs(name));
    this.#forgetTasksOf(name);
    const config = { ...runner.config, purgedAt: now };
    return this.configureQueue(config);
  }

  createTask(record: TaskRecord): TaskRecord {
    const runner = this.#runner(record.queue, queueMissing);
    if (this.#entries.has(record.name)) throw taskExists();
    if (record.named && this.#isTaken(record.name)) {
      throw taskExistedRecently();
    }
    const id = this.#store.insertTask(record);
    const bytes = record.target.body.length + RECORD_OVERHEAD_BYTES;
    const cached = this.#cachedBytes + bytes <= CACHED_BYTES;
    if (cached) this.#cachedBytes += bytes;
    const entry: QueueEntry = {
      id,
      name: record.name,
      queue: record.queue,
      dueAt: record.scheduledAt,
      record: cached ? record : undefined,
      slot: undefined,
      running: NONE_RUNNING,
      isDeleted: false,
    };
    this.#entries.set(record.name, entry);
    this.counts.created++;
    runner.add(entry);
    runner.pump();
    return record;
  }

  task(name: string): TaskRecord {
    const entry = this.#entries.get(name);
    const record = entry?.record ?? (entry && this.#store.task(name));
    if (entry === undefined || record === undefined) throw this.#isTaken(name) ? taskGone() : notFound();
    return withRunning(record, entry.running);
  }

  tasks(queue: string, after: number, limit: number): { id: number; task: TaskRecord }[] {
    this.#runner(queue, queueMissing);
    return this.#store.page(queue, after, limit).map(({ id, task }) => ({
      id,
      task: withRunning(task, this.#entries.get(task.name)?.running ?? NONE_RUNNING),
    }));
  }

  deleteTask(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw notFound();
    this.#remove(entry, this.task(name).named);
  }

  runTask(name: string): TaskRecord {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw notFound();
    this.#runner(entry.queue, queueMissing).runNow(entry);
    return { ...this.task(name), scheduledAt: this.#clock.now() };
  }

  quiesce(): void {
    this.#cancelSweep();
    for (const queue of this.#queues.values()) queue.quiesce();
  }

  stop(): void {
    this.#cancelSweep();
    for (const queue of this.#queues.values()) queue.stop();
  }

  #addQueue(config: QueueConfig): void {
    this.#queues.set(config.name, new QueueRunner(config, this.#clock, this.#dispatch, this.#events));
  }

  #runner(name: string, missing: () => Error): QueueRunner {
    const runner = this.#queues.get(name);
    if (runner === undefined) throw missing();
    return runner;
  }

  /** True if a task that ended or was deleted reserves the name. */
  #isTaken(name: string): boolean {
    return (this.#store.tombstone(name) ?? 0) > this.#clock.now();
  }

  #remove(entry: QueueEntry, named: boolean): void {
    this.#forget(entry);
    this.#store.finishLater(entry.name, named ? this.#clock.now() + this.#dedupMs(entry.queue) : undefined);
  }

  #dedupMs(queue: string): number {
    return this.#queues.get(queue)?.config.tombstoneTtlMs ?? LIMITS.dedupMs;
  }

  #taskLifeMs(queue: string): number {
    return this.#queues.get(queue)?.config.taskTtlMs ?? LIMITS.taskLifeMs;
  }

  #forget(entry: QueueEntry): void {
    entry.isDeleted = true;
    entry.slot = undefined;
    this.#entries.delete(entry.name);
    if (entry.record) this.#cachedBytes -= entry.record.target.body.length + RECORD_OVERHEAD_BYTES;
    entry.record = undefined;
  }

  #forgetTasksOf(queue: string): void {
    for (const entry of this.#entries.values()) if (entry.queue === queue) this.#forget(entry);
  }

  /** True also for a task that became due while the clock was moved or the server was stopped. */
  #isBeingDispatched({ queue, dueAt, running }: QueueEntry, now: number): boolean {
    return running.length > 0 || (dueAt <= now && this.#queues.get(queue)?.config.state === 'running');
  }

  #sweep(): void {
    const now = this.#clock.now();
    this.#store.forgetTombstonesBefore(now);
    const lives = [...this.#queues.keys()].map((queue) => this.#taskLifeMs(queue));
    // Infinity without a queue, because then there are no tasks.
    const shortest = lives.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    for (const { name, created } of this.#store.tasksBefore(now - shortest)) {
      const entry = this.#entries.get(name);
      if (!entry || created > now - this.#taskLifeMs(entry.queue)) continue;
      if (!this.#isBeingDispatched(entry, now)) this.deleteTask(name);
    }
    this.#cancelSweep = this.#clock.at(now + SWEEP_MS, () => this.#sweep());
  }
}
