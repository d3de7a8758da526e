/**
 * Runs and journals in Firestore: writes and reads of one run. Each commit is one atomic request whose create
 * preconditions are both compare-and-set and fence. The lists are inherited; values outside the journal are in payloads.ts and
 * memos.ts.
 *
 * Must not: decide anything about a run, retry, or read before it writes, except for paged entries (pages/).
 */
import { FieldPath, type Firestore } from '@google-cloud/firestore';
import { writesOf } from '../core/cost/writes.ts';
import type { EffectWrite } from '../core/effects/effect.ts';
import { seqId } from '../core/encoding/ids.ts';
import type { LogSegment } from '../core/logs/segment.ts';
import type { PayloadRef, RunEvent } from '../core/run/events.ts';
import type { Checkpoint } from '../core/run/records.ts';
import { fold } from '../core/run/reduce/index.ts';
import type { RunState } from '../core/run/state.ts';
import { assertSoundCommit, assertSoundStart, assertSoundTouch } from '../ports/commit-rules.ts';
import type {
  CommitResult,
  JournalCommit,
  LoadedRun,
  Page,
  PageRequest,
  RunStore,
  SnapshotTouch,
  StartCommit,
  Supersedes,
  TouchResult,
} from '../ports/run-store.ts';
import { UndecodableDocument } from '../ports/store-errors.ts';
import type { Memo, RecordedMemo } from '../ports/value-store.ts';
import { call, isStale, isTaken, unexplained } from './call.ts';
import { effectCodec, encodeEffectChange } from './codec/effect.ts';
import { checkpointCodec, eventCodec, stepCodec } from './codec/journal.ts';
import type { Members } from './codec/kinds.ts';
import {
  encodeNewSnapshot,
  encodeSnapshotUpdate,
  encodeUnleasedUpdate,
  isMarkedToGo,
} from './codec/snapshot.ts';
import { segmentCodec } from './codec/values.ts';
import { CommitCombiner, type WriteResult } from './commits/commit-combiner.ts';
import { libraryBatch, type StoreBatch } from './commits/store-batch.ts';
import { createRecord, replaceRecord } from './firestore-idempotency-store.ts';
import { RunLists } from './lists/run-lists.ts';
import type { Shards } from './lists/shards.ts';
import { loadedFrom } from './loaded-run.ts';
import { FirestoreMemos } from './memos.ts';
import { type PageWrites, RunPages } from './pages/run-pages.ts';
import type { PageBudget } from './pages/spill.ts';
import { Paths } from './paths.ts';
import { FirestorePayloads } from './payloads.ts';
import { lastUpdateTime, versionOf } from './version.ts';

/** Tail events read at once. A dispatch rarely appends more between two snapshots. */
const TAIL_PAGE = 300;
/** Checkpoints read at once; with 256 KiB of output each, a response stays below 32 MiB. */
const CHECKPOINT_PAGE = 100;

interface RunStoreOptions {
  /** Size bounds of run documents. Default: those of production. */
  readonly budget?: PageBudget | undefined;
  /** Default: those of an installation that names no number. */
  readonly shards?: Shards | undefined;
}

export class FirestoreRunStore extends RunLists implements RunStore {
  readonly #db: Firestore;
  readonly #newBatch: () => StoreBatch;
  readonly #commits: CommitCombiner;
  readonly #pages: RunPages;
  readonly #payloads: FirestorePayloads;
  readonly #memos: FirestoreMemos;

  /**
   * `newBatch` creates the batches of starts and commits; default: the client library's own.
   */
  constructor(
    db: Firestore,
    prefix?: string,
    newBatch: () => StoreBatch = () => libraryBatch(db),
    { budget, shards }: RunStoreOptions = {},
  ) {
    super(new Paths(db, prefix), shards);
    this.#db = db;
    this.#newBatch = newBatch;
    this.#commits = new CommitCombiner(newBatch);
    this.#pages = new RunPages(db, this.paths, newBatch, budget);
    this.#payloads = new FirestorePayloads(db, this.paths);
    this.#memos = new FirestoreMemos(this.paths);
  }

  async start(commit: StartCommit): Promise<CommitResult> {
    assertSoundStart(commit);
    const { supersedes } = commit;
    if (!supersedes) return this.#start(commit);
    const { snapshot, metadata, seen } = supersedes;
    const members = encodeUnleasedUpdate(snapshot, metadata);
    return this.#pages.write(
      { run: this.paths.run(snapshot.id), snapshot, members, cost: undefined },
      async (pages) => {
        if (pages && pages.seen !== seen) return { kind: 'exists' };
        return this.#start(commit, { members, pages });
      },
    );
  }

  /** @param superseded the snapshot of the superseded run, if there is one */
  #start(commit: StartCommit, superseded?: SnapshotUpdate): Promise<CommitResult> {
    const { state, metadata, events, checkpoints, records, supersedes } = commit;
    const run = this.paths.runPath(state.id);
    const batch = this.#newBatch();
    batch.create(run, encodeNewSnapshot(state, metadata));
    this.#appendTo(batch, run, { events, checkpoints });
    for (const { record, replaces } of records) {
      const creation = {
        path: this.paths.idempotencyRecord(record.key).path,
        record,
        shards: this.shards.written,
      };
      if (replaces === undefined) createRecord(batch, creation);
      else replaceRecord(batch, { ...creation, seen: replaces });
    }
    if (supersedes && superseded) this.#supersede(batch, supersedes, superseded);
    const overwrites = supersedes !== undefined || records.some(({ replaces }) => replaces !== undefined);
    return outcomeOf(() => batch.commit(), {
      what: `start of run ${state.id}`,
      snapshotAt: 0,
      isRefusal: (error) => isTaken(error) || (overwrites && isStale(error)),
    });
  }

  #supersede(
    batch: StoreBatch,
    { event, snapshot, seen }: Supersedes,
    { members, pages }: SnapshotUpdate,
  ): void {
    const run = this.paths.runPath(snapshot.id);
    batch.create(this.paths.eventPath(run, event.seq), eventCodec.encode(event));
    batch.update(run, { ...members, ...pages?.members }, lastUpdateTime(seen));
    pages?.fill(batch);
  }

  async commit(commit: JournalCommit): Promise<CommitResult> {
    const bytes = assertSoundCommit(commit);
    const { runId, snapshot, metadata } = commit;
    if (!snapshot) return this.#commit(commit, bytes);
    const members = encodeSnapshotUpdate({ snapshot, metadata });
    return this.#pages.write(
      { run: this.paths.run(runId), snapshot, members, cost: metadata?.cost },
      (pages) => this.#commit(commit, bytes, { members, pages }),
      ({ kind }) => kind === 'effect_moved',
    );
  }

  #commit(commit: JournalCommit, bytes: number, updated?: SnapshotUpdate): Promise<CommitResult> {
    const { runId, events, checkpoints, steps, effects = [] } = commit;
    const { members, pages } = updated ?? {};
    const segment = commit.metadata?.logged?.segment;
    const run = this.paths.runPath(runId);
    const fill = (batch: StoreBatch) => {
      if (pages) batch.update(run, { ...members, ...pages.members }, lastUpdateTime(pages.seen));
      else if (members) batch.update(run, members);
      this.#appendTo(batch, run, { events, checkpoints });
      for (const step of steps) batch.set(this.paths.stepPath(run, step.id), stepCodec.encode(step));
      for (const effect of effects) this.#writeEffect(batch, effect);
      pages?.fill(batch);
      this.#writeLogs(batch, runId, segment);
    };
    const others = events.length + checkpoints.length + steps.length + (members ? 1 : 0);
    const writes = others + effects.length + (pages?.writes ?? 0) + (segment ? 1 : 0);
    const part = { writes, bytes: bytes + (pages?.bytes ?? 0), fill };
    return outcomeOf(() => this.#commits.commit(part), {
      what: `commit of run ${runId}`,
      snapshotAt: members && 0,
      effectAt: effects.length > 0 ? others : undefined,
      isRefusal: isTaken,
      isMovedEffect: (error) => effects.length > 0 && isStale(error),
    });
  }

  #appendTo(
    batch: StoreBatch,
    run: string,
    { events, checkpoints }: Pick<StartCommit, 'events' | 'checkpoints'>,
  ): void {
    for (const event of events) batch.create(this.paths.eventPath(run, event.seq), eventCodec.encode(event));
    for (const checkpoint of checkpoints)
      batch.create(this.paths.checkpointPath(run, checkpoint.seq), checkpointCodec.encode(checkpoint));
  }

  #writeLogs(batch: StoreBatch, runId: string, segment: LogSegment | undefined): void {
    if (!segment) return;
    const { path } = this.paths.logSegment(this.paths.run(runId), segment.id);
    batch.set(path, segmentCodec.encode(segment));
  }

  #writeEffect(batch: StoreBatch, effect: EffectWrite): void {
    if (effect.kind === 'create') {
      batch.create(this.paths.effect(effect.record.effectId).path, effectCodec.encode(effect.record));
    } else {
      const { effectId, seen, change } = effect;
      batch.update(this.paths.effect(effectId).path, encodeEffectChange(change), lastUpdateTime(seen));
    }
  }

  async touch(touch: SnapshotTouch): Promise<TouchResult> {
    assertSoundTouch(touch);
    const { runId, seen, snapshot, metadata } = touch;
    const run = this.paths.run(runId);
    const members = encodeSnapshotUpdate(touch);
    const send = async (pages?: PageWrites): Promise<TouchResult> => {
      if (pages && pages.seen !== seen) return { kind: 'stale' };
      try {
        const batch = this.#newBatch();
        batch.update(run.path, { ...members, ...pages?.members }, lastUpdateTime(seen));
        pages?.fill(batch);
        this.#writeLogs(batch, runId, metadata?.logged?.segment);
        const [written] = await call(`touch of run ${runId}`, () => batch.commit());
        return { kind: 'touched', snapshotVersion: versionOf((written as WriteResult).writeTime) };
      } catch (error) {
        if (isStale(error)) return { kind: 'stale' };
        throw error;
      }
    };
    return snapshot ? this.#pages.write({ run, snapshot, members, cost: metadata?.cost }, send) : send();
  }

  async load(runId: string, ofTenant?: string): Promise<LoadedRun | undefined> {
    const first = await call(`read of run ${runId}`, () => this.paths.run(runId).get());
    // This check precedes every other read or decoding, so that other tenants learn neither version nor tail.
    if (ofTenant !== undefined && first.get('tenantId') !== ofTenant) return undefined;
    const { found, members: document, reads } = await this.#pages.whole(first);
    if (!document || !found.updateTime) return undefined;
    if (ofTenant !== undefined && isMarkedToGo(document)) return undefined;
    const run = loadedFrom(found, document);
    // Without a lease the snapshot never lags (J4), so there is no tail.
    const tail = run.state.lease
      ? await this.#foldTail(run.state)
      : { state: run.state, reads: 0, writes: 0 };
    return { ...run, state: tail.state, reads: run.reads + reads + tail.reads, tailWrites: tail.writes };
  }

  async readEvents(runId: string, afterSeq: number, limit: number): Promise<readonly RunEvent[]> {
    const events = this.paths.events(this.paths.run(runId));
    const ordered = events.orderBy(FieldPath.documentId());
    const wanted = afterSeq > 0 ? ordered.startAfter(seqId(afterSeq)) : ordered;
    const { docs } = await call(`read of the journal of run ${runId}`, () => wanted.limit(limit).get());
    return docs.map((found) => eventCodec.decode(found.data(), `event ${found.id} of run ${runId}`));
  }

  async readCheckpoints(runId: string, seqs: readonly number[]): Promise<readonly Checkpoint[]> {
    const run = this.paths.run(runId);
    const checkpoints: Checkpoint[] = [];
    for (let from = 0; from < seqs.length; from += CHECKPOINT_PAGE) {
      const wanted = seqs.slice(from, from + CHECKPOINT_PAGE).map((seq) => this.paths.checkpoint(run, seq));
      const found = await call(`read of checkpoints of run ${runId}`, () => this.#db.getAll(...wanted));
      for (const document of found) {
        const data = document.data();
        if (!data) throw new UndecodableDocument(`run ${runId} has no checkpoint ${Number(document.id)}`);
        checkpoints.push(checkpointCodec.decode(data, `checkpoint ${document.id} of run ${runId}`));
      }
    }
    return checkpoints;
  }

  async findCheckpoint(runId: string, seq: number): Promise<Checkpoint | undefined> {
    const what = `checkpoint ${seq} of run ${runId}`;
    const found = await call(what, () => this.paths.checkpoint(this.paths.run(runId), seq).get());
    const data = found.data();
    return data && checkpointCodec.decode(data, what);
  }

  writePayload(runId: string, text: string): Promise<PayloadRef> {
    return this.#payloads.writePayload(runId, text);
  }

  readPayload(runId: string, ref: PayloadRef): Promise<string> {
    return this.#payloads.readPayload(runId, ref);
  }

  deletePayload(runId: string, ref: PayloadRef): Promise<void> {
    return this.#payloads.deletePayload(runId, ref);
  }

  createMemo(runId: string, memo: Memo): Promise<string> {
    return this.#memos.createMemo(runId, memo);
  }

  readMemos(runId: string, step: string, revision: number): Promise<ReadonlyMap<string, string>> {
    return this.#memos.readMemos(runId, step, revision);
  }

  listMemos(
    runId: string,
    of: Pick<Memo, 'step' | 'revision'>,
    page: PageRequest,
  ): Promise<Page<RecordedMemo>> {
    return this.#memos.listMemos(runId, of, page);
  }

  /**
   * Folds the tail over the snapshot. `reads`: billed by the queries, at least one each; `writes`: those of the tail's commits.
   */
  async #foldTail(snapshot: RunState): Promise<{ state: RunState; reads: number; writes: number }> {
    let state = snapshot;
    let reads = 0;
    let writes = 0;
    for (;;) {
      const tail = await this.readEvents(state.id, state.head, TAIL_PAGE);
      reads += Math.max(1, tail.length);
      writes += writesOf(tail);
      if (tail.length > 0) state = fold(state.id, tail, state);
      if (tail.length < TAIL_PAGE) return { state, reads, writes };
    }
  }
}

/** The write of a run document: all its members, and the writes of its pages. */
interface SnapshotUpdate {
  readonly members: Members;
  readonly pages: PageWrites | undefined;
}

interface CommitAttempt {
  readonly what: string;
  /** Index of the snapshot among the writes, if it is one of them. */
  readonly snapshotAt?: number | undefined;
  /** Index of the first ledger row in the commit. */
  readonly effectAt?: number | undefined;
  /** Returns true if the error means that nothing was applied because a document existed. */
  readonly isRefusal: (error: unknown) => boolean;
  /** Returns true if the document is a ledger row. */
  readonly isMovedEffect?: (error: unknown) => boolean;
}

async function outcomeOf(
  send: () => Promise<readonly WriteResult[]>,
  { what, snapshotAt, effectAt, isRefusal, isMovedEffect }: CommitAttempt,
): Promise<CommitResult> {
  try {
    const written = await call(what, send);
    const at = (place: number | undefined) => (place === undefined ? undefined : written[place]);
    const snapshot = at(snapshotAt);
    const effect = at(effectAt);
    return {
      kind: 'committed',
      snapshotVersion: snapshot && versionOf(snapshot.writeTime),
      effectsVersion: effect && versionOf(effect.writeTime),
    };
  } catch (error) {
    if (isRefusal(error)) return { kind: 'exists' };
    if (isMovedEffect?.(error)) return { kind: 'effect_moved' };
    throw unexplained(what, error);
  }
}
