/**
 * Runs and journals in memory, for tests, for exploring interleavings and for experiments. Each method applies
 * atomically when it is called, before it first yields. It has the contract of the Firestore adapter (one conformance
 * suite for both), and also refuses a journal with a gap.
 *
 * Must not: fail, wait or lose responses by itself; a wrapper does that.
 */

import { NO_COST, sum } from '../core/cost/cost.ts';
import { writesOf } from '../core/cost/writes.ts';
import { encodeKey } from '../core/encoding/idempotency-keys.ts';
import { seqId } from '../core/encoding/ids.ts';
import type { HeartbeatWindow } from '../core/recovery/lease-watch.ts';
import { NewerSchemaError, type RunEvent, SCHEMA_VERSION } from '../core/run/events.ts';
import { waitsFor } from '../core/run/now/waits-for.ts';
import { askingSince } from '../core/run/open-questions.ts';
import type { Checkpoint, StepRecord } from '../core/run/records.ts';
import { fold } from '../core/run/reduce/index.ts';
import type { RunState, VolatileMetadata } from '../core/run/state.ts';
import { DRIVEN_STATUSES } from '../core/run/status.ts';
import { readySince, wakeAt } from '../core/run/wake.ts';
import { listedMetadata, listedState } from '../core/search/listed.ts';
import { listedWaits } from '../core/search/listing.ts';
import { storedNames } from '../core/search/match-index.ts';
import { stepCounts } from '../core/search/step-counts.ts';
import { assertSoundCommit, assertSoundStart, assertSoundTouch } from '../ports/commit-rules.ts';
import type {
  CommitResult,
  DuePlace,
  DueRun,
  JournalCommit,
  ListedRun,
  LoadedRun,
  MetadataUpdate,
  Page,
  PageRequest,
  RunFilter,
  RunStore,
  SilentRun,
  SnapshotTouch,
  StartCommit,
  Supersedes,
  TouchResult,
} from '../ports/run-store.ts';
import { isInList } from '../ports/runs/in-list.ts';
import { freeze, frozenCopy, type MemoryDatabase, type RunDocuments } from './memory-database.ts';
import { MemoryEffectStore } from './memory-effect-store.ts';
import { MemoryValues } from './memory-values.ts';
import { ascending, descending, sortedPage } from './paging.ts';

export class MemoryRunStore extends MemoryValues implements RunStore {
  readonly #db: MemoryDatabase;
  readonly #effects: MemoryEffectStore;
  readonly #listeners = new Set<(runId: string, events: readonly RunEvent[]) => void>();

  constructor(db: MemoryDatabase) {
    super(db);
    this.#db = db;
    this.#effects = new MemoryEffectStore(db);
  }

  async start(commit: StartCommit): Promise<CommitResult> {
    assertSoundStart(commit);
    const { state, metadata = {}, events, checkpoints, records, supersedes } = commit;
    for (const { record } of records) encodeKey(record.key);
    if (this.#db.runs.has(state.id)) return { kind: 'exists' };
    if (records.some(({ record, replaces }) => this.#db.records.get(record.key)?.version !== replaces)) {
      return { kind: 'exists' };
    }
    if (supersedes && !this.#supersede(supersedes)) return { kind: 'exists' };
    const version = this.#db.nextVersion();
    this.#db.runs.set(state.id, {
      snapshot: freeze(state),
      metadata: freeze({ ...metadata }),
      wakeAt: wakeAt(state),
      askingSince: askingSince(state),
      foundBy: storedNames(state),
      version,
      events: events.map(freeze),
      checkpoints: new Map(checkpoints.map((checkpoint) => [checkpoint.seq, freeze(checkpoint)])),
      steps: new Map(),
      logs: new Map(),
    });
    const lineage = this.#db.lineages.get(state.rootRunId) ?? new Set();
    this.#db.lineages.set(state.rootRunId, lineage.add(state.id));
    for (const { record } of records)
      this.#db.records.set(record.key, { record: frozenCopy(record), version });
    this.#notify(state.id, events);
    if (supersedes) this.#notify(supersedes.snapshot.id, [supersedes.event]);
    return { kind: 'committed', snapshotVersion: version };
  }

  /** Returns false and changes nothing if the run was written concurrently. */
  #supersede({ event, snapshot, seen }: Supersedes): boolean {
    const run = this.#db.runs.get(snapshot.id);
    if (run?.version !== seen || run.events.length !== event.seq - 1) return false;
    run.events.push(freeze(event));
    run.snapshot = freeze(snapshot);
    run.wakeAt = wakeAt(snapshot, run.metadata);
    run.askingSince = askingSince(snapshot);
    run.version = this.#db.nextVersion();
    return true;
  }

  async load(runId: string, ofTenant?: string): Promise<LoadedRun | undefined> {
    const run = this.#db.runs.get(runId);
    if (!run || (ofTenant !== undefined && run.snapshot.tenantId !== ofTenant)) return undefined;
    if (ofTenant !== undefined && run.metadata.deletionMarkedAt !== undefined) return undefined;
    const snapshot = readable(run.snapshot, `run ${runId}`);
    // Without a lease the snapshot never lags (J4).
    const tail = snapshot.lease ? run.events.slice(snapshot.head) : [];
    return {
      state: fold(
        runId,
        tail.map((event) => readable(event, `event ${event.seq} of run ${runId}`)),
        snapshot,
      ),
      metadata: run.metadata,
      snapshotHead: snapshot.head,
      snapshotVersion: run.version,
      readAt: this.#db.now(),
      reads: 1 + (snapshot.lease ? Math.max(1, tail.length) : 0),
      tailWrites: writesOf(tail),
    };
  }

  async readEvents(runId: string, afterSeq: number, limit: number): Promise<readonly RunEvent[]> {
    const events = this.#db.runs.get(runId)?.events.slice(afterSeq, afterSeq + limit) ?? [];
    return events.map((event) => readable(event, `event ${event.seq} of run ${runId}`));
  }

  async commit(commit: JournalCommit): Promise<CommitResult> {
    assertSoundCommit(commit);
    const { runId, events, checkpoints, steps, effects = [], snapshot, metadata } = commit;
    const run = this.#db.runs.get(runId);
    if (!run) throw new Error(`run ${runId} does not exist`);
    const gap = (events[0]?.seq ?? 0) - run.events.length - 1;
    if (gap < 0) return { kind: 'exists' };
    if (gap > 0) throw new Error(`run ${runId}: event ${events[0]?.seq} would leave a gap in the journal`);
    if (checkpoints.some(({ seq }) => run.checkpoints.has(seq))) return { kind: 'exists' };
    if (!this.#effects.mayWrite(effects)) return { kind: 'effect_moved' };

    run.events.push(...events.map(freeze));
    for (const checkpoint of checkpoints) run.checkpoints.set(checkpoint.seq, freeze(checkpoint));
    for (const step of steps) run.steps.set(step.id, freeze(step));
    const written = effects.length > 0 ? { effectsVersion: this.#effects.write(effects) } : {};
    this.#notify(runId, events);
    if (!snapshot) return { kind: 'committed', ...written };
    return {
      kind: 'committed',
      ...written,
      snapshotVersion: this.#writeSnapshot(run, { snapshot, metadata }),
    };
  }

  /** Calls `listener` with the events that each start and commit appends, and without events when lines were logged. */
  onAppend(listener: (runId: string, events: readonly RunEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async touch(touch: SnapshotTouch): Promise<TouchResult> {
    assertSoundTouch(touch);
    const { runId, seen, ...change } = touch;
    const run = this.#db.runs.get(runId);
    if (run?.version !== seen) return { kind: 'stale' };
    return { kind: 'touched', snapshotVersion: this.#writeSnapshot(run, change) };
  }

  async readCheckpoints(runId: string, seqs: readonly number[]): Promise<readonly Checkpoint[]> {
    const checkpoints = this.#db.runs.get(runId)?.checkpoints;
    return seqs.map((seq) => {
      const checkpoint = checkpoints?.get(seq);
      if (!checkpoint) throw new Error(`run ${runId} has no checkpoint ${seq}`);
      return checkpoint;
    });
  }

  async findCheckpoint(runId: string, seq: number): Promise<Checkpoint | undefined> {
    return this.#db.runs.get(runId)?.checkpoints.get(seq);
  }

  async dueRuns(now: number, limit: number, after?: DuePlace): Promise<readonly DueRun[]> {
    const due: DueRun[] = [];
    for (const [runId, { snapshot, wakeAt: at, version }] of this.#db.runs) {
      if (at === undefined || at > now) continue;
      if (after && ascending([at, runId], [after.wakeAt, after.runId]) <= 0) continue;
      const { type, status, parked } = snapshot;
      due.push({
        runId,
        wakeAt: at,
        snapshotVersion: version,
        type,
        status,
        isBlocked: parked !== undefined,
        readySince: readySince(snapshot),
      });
    }
    return due.sort((a, b) => ascending([a.wakeAt, a.runId], [b.wakeAt, b.runId])).slice(0, limit);
  }

  async silentRuns({ after, until }: HeartbeatWindow, limit: number): Promise<readonly SilentRun[]> {
    const silent: SilentRun[] = [];
    for (const [runId, { snapshot, metadata }] of this.#db.runs) {
      const { lastHeartbeatAt: at } = metadata;
      if (at === undefined || at <= after || at > until) continue;
      if (!DRIVEN_STATUSES.some((status) => status === snapshot.status)) continue;
      const { type, tenantId, lease } = snapshot;
      silent.push({ runId, lastHeartbeatAt: at, isLeased: lease !== undefined, type, tenantId });
    }
    return silent
      .sort((a, b) => ascending([a.lastHeartbeatAt, a.runId], [b.lastHeartbeatAt, b.runId]))
      .slice(0, limit);
  }

  async listRuns(filter: RunFilter, page: PageRequest): Promise<Page<ListedRun>> {
    const runs = [...this.#db.runs.values()]
      .filter((run) => isAmong(run, filter) && matches(run.snapshot, filter))
      .map(listedRun);
    const listed = sortedPage(runs, page, {
      list: 'runs',
      positionOf: ({ state }) => [state.createdAt, state.id],
      compare: descending,
    });
    const present = listed.items.filter(
      ({ state }) => this.#db.runs.get(state.id)?.metadata.deletionMarkedAt === undefined,
    );
    const isNewer = ({ state }: ListedRun) => state.schemaVersion > SCHEMA_VERSION;
    const unreadable = present.filter(isNewer).map(({ state }) => state.id);
    const items = present.filter((run) => !isNewer(run));
    return { ...listed, items, ...(unreadable.length > 0 ? { unreadable } : {}) };
  }

  async listEvents(runId: string, page: PageRequest): Promise<Page<RunEvent>> {
    const events = this.#db.runs.get(runId)?.events ?? [];
    const listed = sortedPage(events, page, {
      list: 'events',
      positionOf: (event) => [0, seqId(event.seq)],
      compare: ascending,
    });
    return {
      ...listed,
      items: listed.items.map((event) => readable(event, `event ${event.seq} of run ${runId}`)),
    };
  }

  async listSteps(runId: string, page: PageRequest): Promise<Page<StepRecord>> {
    const steps = [...(this.#db.runs.get(runId)?.steps.values() ?? [])];
    return sortedPage(steps, page, {
      list: 'steps',
      positionOf: (step) => [0, encodeKey(step.id)],
      compare: ascending,
    });
  }

  async listCheckpoints(runId: string, page: PageRequest): Promise<Page<Checkpoint>> {
    const checkpoints = [...(this.#db.runs.get(runId)?.checkpoints.values() ?? [])];
    return sortedPage(checkpoints, page, {
      list: 'checkpoints',
      positionOf: (checkpoint) => [0, seqId(checkpoint.seq)],
      compare: ascending,
    });
  }

  #notify(runId: string, events: readonly RunEvent[]): void {
    for (const listener of this.#listeners) listener(runId, events);
  }

  #writeSnapshot(run: RunDocuments, change: Omit<SnapshotTouch, 'runId' | 'seen'>): string {
    const { snapshot, metadata } = change;
    if (snapshot) run.snapshot = freeze(snapshot);
    if (snapshot) run.askingSince = askingSince(snapshot);
    if (metadata) run.metadata = this.#metadataAfter(run.metadata, metadata);
    const segment = metadata?.logged?.segment;
    if (segment) run.logs.set(segment.id, freeze(segment));
    if (segment) this.#notify(run.snapshot.id, []);
    // A snapshot ignores lease extensions of earlier heartbeats. A `wakeAt` that is too early is harmless.
    if (snapshot) run.wakeAt = wakeAt(snapshot, metadata);
    else if (metadata?.leaseExtendedTo !== undefined) run.wakeAt = metadata.leaseExtendedTo;
    if (metadata?.dutiesMet) run.wakeAt = undefined;
    if (change.wakeAt !== undefined) run.wakeAt = change.wakeAt;
    if (change.asksNothing) run.askingSince = undefined;
    run.version = this.#db.nextVersion();
    return run.version;
  }

  #metadataAfter(before: VolatileMetadata, update: MetadataUpdate): VolatileMetadata {
    const { heartbeat, leaseExtendedTo, inFlight, running, dutiesMet } = update;
    const { publishedSeq, publishDueAt, cost, logged } = update;
    return Object.freeze({
      ...before,
      ...(heartbeat ? { lastHeartbeatAt: this.#db.now() } : {}),
      ...(leaseExtendedTo === undefined ? {} : { leaseExtendedTo }),
      ...(inFlight === undefined ? {} : { inFlight }),
      ...(running === undefined ? {} : { running }),
      ...(dutiesMet === undefined ? {} : { dutiesMet }),
      ...(publishedSeq === undefined ? {} : { publishedSeq }),
      ...(publishDueAt === undefined ? {} : { publishDueAt }),
      ...(logged === undefined ? {} : { logs: freeze(logged.totals) }),
      ...(cost === undefined ? {} : { cost: Object.freeze(sum(before.cost ?? NO_COST, cost)) }),
    });
  }
}

/** Returns true if a list with this filter includes the run. */
export function matches(run: RunState, filter: RunFilter): boolean {
  return isInList({ state: run, waitsFor: waitsFor(run) }, filter);
}

/** Returns true if an index finds the run by one of the entries, or if none are given. */
export function isAmong({ foundBy }: Pick<RunDocuments, 'foundBy'>, { among }: RunFilter): boolean {
  return among === undefined || among.some((entry) => foundBy.includes(entry));
}

/** The value, unless a newer version of this software wrote it. */
function readable<T extends { readonly schemaVersion: number }>(value: T, what: string): T {
  if (value.schemaVersion > SCHEMA_VERSION) throw new NewerSchemaError(what, value.schemaVersion);
  return value;
}

export function listedRun({ snapshot, metadata, wakeAt }: RunDocuments): ListedRun {
  return {
    state: listedState(snapshot),
    metadata: listedMetadata(metadata),
    stepCounts: stepCounts(snapshot.steps),
    waits: listedWaits(snapshot.waits),
    waitsFor: waitsFor(snapshot),
    wakeAt,
  };
}
