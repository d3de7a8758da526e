/**
 * Dispatches the tasks of one queue by due time, within its rate and concurrency limits, and slower while its target is
 * overloaded. Owns the schedule index and the attempts in flight; reports results by `TaskEvents`.
 */
import { Alarm } from '@cairn/local-kit/time/alarm';
import type { ServerClock } from '@cairn/local-kit/time/clock';
import {
  type Dispatch,
  type DispatchResult,
  isSuccess,
  progressAfter,
  requestFor,
  retryAfterMs,
  unsendable,
} from './dispatch/attempt.ts';
import { afterFailure } from './dispatch/retry.ts';
import { DueHeap } from './due-heap.ts';
import { overriddenTarget } from './http-target/override.ts';
import type { AttemptStart, QueueConfig, TaskProgress, TaskRecord } from './model.ts';
import {
  afterOverload,
  isOverload,
  shareAt,
  THROTTLE_STEP_MS,
  type Throttle,
  UNTHROTTLED,
} from './throttle.ts';
import { TokenBucket } from './token-bucket.ts';

/** A task in the index. `record` is a cache; without it the task is read from storage when it is due. */
export interface QueueEntry {
  readonly id: number;
  readonly name: string;
  readonly queue: string;
  dueAt: number;
  record: TaskRecord | undefined;
  /** The current heap slot; older slots of the same task are skipped. */
  slot: QueueSlot | undefined;
  /** Attempts without a result yet, oldest first. Only `runNow` adds a second one. */
  running: readonly AttemptStart[];
  isDeleted: boolean;
}

/** Shared by all waiting tasks to save memory. */
export const NONE_RUNNING: readonly AttemptStart[] = [];

interface QueueSlot {
  readonly dueAt: number;
  readonly order: number;
  readonly entry: QueueEntry;
}

export interface TaskEvents {
  load(entry: QueueEntry): TaskRecord | undefined;
  starting(entry: QueueEntry, record: TaskRecord, start: AttemptStart): void;
  finished(entry: QueueEntry, record: TaskRecord): void;
  retrying(entry: QueueEntry, dueAt: number, progress: TaskProgress): void;
}

interface SettledAttempt {
  readonly entry: QueueEntry;
  readonly record: TaskRecord;
  readonly start: AttemptStart;
  /** True if `runNow` requested it. */
  readonly isForced: boolean;
}

export class QueueRunner {
  readonly #clock: ServerClock;
  readonly #dispatch: Dispatch;
  readonly #events: TaskEvents;
  readonly #heap = new DueHeap<QueueSlot>();
  readonly #aborts = new Set<AbortController>();
  readonly #alarm: Alarm;
  #config: QueueConfig;
  #bucket: TokenBucket;
  #throttle: Throttle = UNTHROTTLED;
  #stopped = false;

  constructor(config: QueueConfig, clock: ServerClock, dispatch: Dispatch, events: TaskEvents) {
    this.#config = config;
    this.#clock = clock;
    this.#dispatch = dispatch;
    this.#events = events;
    this.#bucket = bucketOf(config, clock);
    this.#alarm = new Alarm(clock, () => this.pump());
  }

  get config(): QueueConfig {
    return this.#config;
  }

  get inFlight(): number {
    return this.#aborts.size;
  }

  configure(config: QueueConfig): void {
    const { maxDispatchesPerSecond, maxBurstSize } = this.#config.rateLimits;
    const rates = config.rateLimits;
    this.#config = config;
    if (rates.maxDispatchesPerSecond !== maxDispatchesPerSecond || rates.maxBurstSize !== maxBurstSize) {
      this.#bucket = bucketOf(config, this.#clock);
    }
    this.pump();
  }

  add(entry: QueueEntry): void {
    entry.slot = { dueAt: entry.dueAt, order: entry.id, entry };
    this.#heap.push(entry.slot);
  }

  /** Starts all tasks that may start now, and sets the timer for the next one. */
  pump(): void {
    let next = this.#startable();
    while (next.kind === 'start') {
      this.#heap.pop();
      next.entry.slot = undefined;
      this.#start(next.entry);
      next = this.#startable();
    }
    this.#alarm.set(next.atMs);
  }

  /** The next task, after taking its token, or the time of the next try (undefined: when an attempt ends). */
  #startable(): { kind: 'start'; entry: QueueEntry } | { kind: 'wait'; atMs: number | undefined } {
    const next = this.#next();
    const full = this.#aborts.size >= this.#config.rateLimits.maxConcurrentDispatches;
    if (next === undefined || full) return { kind: 'wait', atMs: undefined };
    const now = this.#clock.now();
    if (next.dueAt > now) return { kind: 'wait', atMs: next.dueAt };
    const share = shareAt(this.#throttle, now);
    const token = this.#bucket.take(now, share);
    if (token.taken) return { kind: 'start', entry: next.entry };
    // A throttled queue recovers while it waits, so its next token may be due earlier.
    return { kind: 'wait', atMs: share === 1 ? token.atMs : Math.min(token.atMs, now + THROTTLE_STEP_MS) };
  }

  /** Dispatches now, regardless of the queue's state and limits, the task's schedule and running attempts. */
  runNow(entry: QueueEntry): void {
    entry.dueAt = this.#clock.now();
    entry.slot = undefined;
    this.#start(entry, true);
  }

  /** No further dispatch starts; running ones continue. */
  quiesce(): void {
    this.#stopped = true;
    this.#alarm.set(undefined);
  }

  /** Also aborts the attempts in flight, whose results no longer count. */
  stop(): void {
    this.quiesce();
    for (const abort of this.#aborts) abort.abort(new Error('the server is stopping'));
  }

  #next(): QueueSlot | undefined {
    if (this.#stopped || this.#config.state === 'paused') return undefined;
    for (;;) {
      const top = this.#heap.peek();
      if (top === undefined || (top.entry.slot === top && !top.entry.isDeleted)) return top;
      this.#heap.pop();
    }
  }

  #start(entry: QueueEntry, isForced = false): void {
    const loaded = entry.record ?? this.#events.load(entry);
    if (loaded === undefined) {
      entry.isDeleted = true;
      return;
    }
    const dispatchedAt = this.#clock.now();
    const record = isForced ? { ...loaded, scheduledAt: dispatchedAt } : loaded;
    const start = { scheduledAt: record.scheduledAt, dispatchedAt };
    entry.running = [...entry.running, start];
    this.#events.starting(entry, record, start);
    const abort = new AbortController();
    this.#aborts.add(abort);
    let late = false;
    const cancelDeadline = this.#clock.after(record.deadlineMs, () => {
      late = true;
      abort.abort(new Error('the dispatch deadline passed'));
    });
    const sent = { ...record, target: overriddenTarget(record.target, this.#config.httpTarget) };
    const attempt = this.#dispatch({ ...requestFor(sent, dispatchedAt), signal: abort.signal });
    void attempt.catch(unsendable).then((outcome) => {
      cancelDeadline();
      this.#aborts.delete(abort);
      if (this.#stopped && abort.signal.aborted) return;
      entry.running = entry.running.filter((other) => other !== start);
      if (!late && isOverload(outcome, record.target))
        this.#throttle = afterOverload(this.#throttle, this.#clock.now());
      this.#settle({ entry, record, start, isForced }, late ? { kind: 'deadline-exceeded' } : outcome);
      this.pump();
    });
  }

  #settle({ entry, record, start, isForced }: SettledAttempt, outcome: DispatchResult): void {
    if (entry.isDeleted) return;
    if (isSuccess(outcome)) {
      this.#events.finished(entry, record);
      return;
    }
    const now = this.#clock.now();
    const before = entry.record?.progress ?? record.progress;
    const progress = progressAfter(before, outcome, { ...start, respondedAt: now });
    const decision = afterFailure(this.#config.retry, {
      attempts: progress.dispatchCount,
      firstAttemptAt: progress.first?.dispatchedAt ?? start.dispatchedAt,
      now,
      pauseFrom: isForced ? start.dispatchedAt : now,
      retryAfterMs: outcome.kind === 'answered' ? retryAfterMs(outcome.retryAfter, now) : undefined,
    });
    if (decision.kind === 'give-up') {
      this.#events.finished(entry, record);
      return;
    }
    entry.dueAt = decision.atMs;
    // An uncached task stays uncached: the next attempt reads this progress from storage.
    if (entry.record) entry.record = { ...record, scheduledAt: decision.atMs, progress };
    this.#events.retrying(entry, decision.atMs, progress);
    this.add(entry);
  }
}

const bucketOf = (config: QueueConfig, clock: ServerClock) =>
  new TokenBucket(config.rateLimits.maxDispatchesPerSecond, config.rateLimits.maxBurstSize, clock.now());
