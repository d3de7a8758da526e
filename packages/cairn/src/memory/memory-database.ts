/**
 * Shared state of the memory adapters: the documents of one simulated database, versions and time. The adapters
 * share a database because a start writes a run and idempotency records in one commit.
 *
 * Values are shared, not copied. Every value that enters is deeply frozen, so that a mutation fails immediately. Only
 * values with members that belong to callers (`adopt`) are copied first.
 *
 * Must not: know what a run or a record means.
 */
import { isImmutable } from 'immutable';
import type { IdempotencyRecord } from '../core/decisions/idempotency.ts';
import type { LogSegment } from '../core/logs/segment.ts';
import type { RunEvent } from '../core/run/events.ts';
import type { Checkpoint, StepRecord } from '../core/run/records.ts';
import type { RunState, VolatileMetadata } from '../core/run/state.ts';
import type { ApiClient } from '../ports/access/client-store.ts';
import type { RunFinding } from '../ports/diagnosis/findings.ts';
import type { StoredHeartbeats } from '../ports/diagnosis/heartbeats.ts';
import type { StoredMailbox } from '../ports/mailbox-store.ts';
import type { Version } from '../ports/run-store.ts';
import type { StoredDayBudget } from '../ports/runs/day-budget-store.ts';
import type { StoredEffect } from '../ports/runs/effect-store.ts';
import type { StoredErasure } from '../ports/runs/erasure-store.ts';
import type { StoredPlan } from '../ports/runs/plan-store.ts';
import type { RetentionProgress } from '../ports/runs/retention-store.ts';
import type { StoredRuntimeConfig } from '../ports/runtime-config.ts';
import type { StoredSchedule } from '../ports/schedule-store.ts';

/** All documents of one run. `events[n]` has seq n + 1, because the journal has no gap (J1). */
export interface RunDocuments {
  snapshot: RunState;
  metadata: VolatileMetadata;
  wakeAt: number | undefined;
  /** Derived from the snapshot when it was written. */
  askingSince: number | undefined;
  foundBy: readonly string[];
  version: Version;
  readonly events: RunEvent[];
  readonly checkpoints: Map<number, Checkpoint>;
  readonly steps: Map<string, StepRecord>;
  readonly logs: Map<string, LogSegment>;
}

interface RecordDocument {
  readonly record: IdempotencyRecord;
  readonly version: Version;
}

export interface StoredMemo {
  readonly text: string;
  /** Epoch ms. */
  readonly recordedAt: number;
}

export class MemoryDatabase {
  readonly runs = new Map<string, RunDocuments>();
  /** Ids of all runs started with one `rootRunId`, like an index over that member. */
  readonly lineages = new Map<string, Set<string>>();
  /** Documents of runs without a run document. Only checks and repairs find them. */
  readonly orphans = new Map<string, RunDocuments>();
  readonly records = new Map<string, RecordDocument>();
  readonly clients = new Map<string, ApiClient>();
  /** By the id of their document. */
  readonly mailboxes = new Map<string, StoredMailbox>();
  readonly schedules = new Map<string, StoredSchedule>();
  /** By their ids. */
  readonly effects = new Map<string, StoredEffect>();
  /** By day and tenant. */
  readonly dayBudgets = new Map<string, StoredDayBudget>();
  /** By type and version. */
  readonly plans = new Map<string, StoredPlan>();
  runtimeConfig: StoredRuntimeConfig | undefined;
  /** Chunks of large values, by run and hash. The run need not exist, because a start writes its input first. */
  readonly payloads = new Map<string, readonly Uint8Array[]>();
  /** Time of the write of each of them, epoch ms. */
  readonly payloadTimes = new Map<string, number>();
  /** By their ids. */
  readonly erasures = new Map<string, StoredErasure>();
  /** Progress of deletion at the end of its last tick. */
  retention: RetentionProgress = {};
  heartbeats: Omit<StoredHeartbeats, 'readAt'> = { latest: {} };
  /** By their runs. */
  readonly findings = new Map<string, RunFinding>();
  /** By name, of each run, step and revision. */
  readonly memos = new Map<string, Map<string, StoredMemo>>();
  readonly #clock: { now(): number };
  readonly #listeners = new Set<() => void>();
  #writes = 0;

  /** @param clock the store's own time, epoch ms, for heartbeats and `readAt` */
  constructor(clock: { now(): number }) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  /** A version that no earlier write had. */
  nextVersion(): Version {
    this.#writes += 1;
    this.noteChange();
    return `w${this.#writes}`;
  }

  /** Calls `listener` during each write under a version and each deletion of a run. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  noteChange(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Deeply freezes a value and returns it. Persistent collections are immutable; their values are frozen. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (isImmutable(value)) {
    for (const [, member] of value as unknown as Iterable<[unknown, unknown]>) freeze(member);
    return value;
  }
  if (Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}

/** A frozen copy of a plain value that its owner may change later. Undefined members are dropped. */
export function frozenCopy<T extends object>(value: T): T {
  const entries = Object.entries(structuredClone(value)).filter(([, member]) => member !== undefined);
  return freeze(Object.fromEntries(entries) as T);
}
