/**
 * Deletion and legal holds of runs in Firestore. Ended runs are found by one index over status, type, shard and end;
 * lists of documents to delete read only their names.
 *
 * Must not: delete a run document before its subcollections; its callers ensure that.
 */
import { type DocumentReference, FieldPath, type Firestore, Timestamp } from '@google-cloud/firestore';
import { isExternal } from '../../core/effects/external.ts';
import { encodeKey } from '../../core/encoding/idempotency-keys.ts';
import type { LegalHold } from '../../core/retention/lineage.ts';
import { END_STATUSES } from '../../core/retention/policy.ts';
import { isStoredAsTerminal } from '../../core/run/status.ts';
import type { Version } from '../../ports/run-store.ts';
import type {
  Bucket,
  Cleared,
  EndedQuery,
  EndedRun,
  LineageMember,
  MarkResult,
  PayloadOwner,
  RetentionProgress,
  RetentionStore,
} from '../../ports/runs/retention-store.ts';
import { call, isStale } from '../call.ts';
import type { Members } from '../codec/kinds.ts';
import { decodeMember, encodeRetainedUpdate, MEMBER_NAMES, progressCodec } from '../codec/retention.ts';
import { ShardedStore } from '../firestore-store.ts';
import { type Shards, shardedPage } from '../lists/shards.ts';
import { RunPages } from '../pages/run-pages.ts';
import { lastUpdateTime, versionOf } from '../version.ts';
import { deleteNamed, namesOnly } from './clearing.ts';
import { deleteNumbered } from './numbered.ts';

/** Document names read at once. */
const NAMES_A_READ = 100;
/** Name of the call in errors. */
const DELETION = 'deletion of documents of a run';

export class FirestoreRetentionStore extends ShardedStore implements RetentionStore {
  readonly #pages: RunPages;

  constructor(db: Firestore, prefix?: string, shards?: Shards) {
    super(db, prefix, shards);
    this.#pages = new RunPages(db, this.paths);
  }

  /** Makes one read for each status without more runs: each read begins after the runs of the previous bucket. */
  async nextBucket(after: Bucket | undefined): Promise<Bucket | undefined> {
    const from = after ? END_STATUSES.indexOf(after.status) : 0;
    for (const status of END_STATUSES.slice(from)) {
      const ofStatus = this.paths.runs().where('status', '==', status);
      const ordered = ofStatus
        .orderBy('type')
        .orderBy('shard')
        .orderBy('completedAt')
        .limit(1)
        .select('type');
      const next = after?.status === status ? ordered.startAfter(after.type) : ordered;
      const { docs } = await call('look for workflows with runs that have ended', () => next.get());
      const [found] = docs;
      if (found) return { status, type: found.get('type') as string };
    }
    return undefined;
  }

  async ended({ bucket, until, after, limit }: EndedQuery): Promise<readonly EndedRun[]> {
    const what = 'look for runs that ended long ago';
    const inBucket = this.paths.runs().where('status', '==', bucket.status).where('type', '==', bucket.type);
    const docs = await shardedPage({
      what,
      shards: await this.shards.covering(what, (beyond) => beyond(inBucket).orderBy('completedAt')),
      documents: inBucket.where('completedAt', '<=', Timestamp.fromMillis(until)),
      by: 'completedAt',
      members: ['rootRunId', 'tenantId', 'completedAt'],
      limit,
      after: after && { at: after.completedAt, id: encodeKey(after.runId) },
    });
    return docs.map((found) => ({
      runId: found.id,
      rootRunId: found.get('rootRunId') as string,
      tenantId: found.get('tenantId') as string,
      completedAt: (found.get('completedAt') as Timestamp).toMillis(),
    }));
  }

  async lineage(rootRunId: string, limit: number): Promise<readonly LineageMember[]> {
    const runs = this.paths
      .runs()
      .where('rootRunId', '==', rootRunId)
      .limit(limit)
      .select(...MEMBER_NAMES);
    const { docs } = await call(`read of the lineage of run ${rootRunId}`, () => runs.get());
    const members: LineageMember[] = [];
    for (const found of docs) {
      const document = await this.#pages.list(found.ref, found.data(), 'ties');
      members.push({ ...decodeMember(document, `run ${found.id}`), version: versionOf(found.updateTime) });
    }
    return members;
  }

  async present(runIds: readonly string[]): Promise<ReadonlyMap<string, { readonly isOver: boolean }>> {
    const found = new Map<string, { readonly isOver: boolean }>();
    for (let from = 0; from < runIds.length; from += NAMES_A_READ) {
      const some = runIds.slice(from, from + NAMES_A_READ);
      const documents = some.map((runId) => this.paths.run(runId));
      const read = await call('read of parents and children', () =>
        this.db.getAll(...documents, { fieldMask: ['status'] }),
      );
      for (const [at, document] of read.entries()) {
        const runId = some[at];
        if (runId === undefined || !document.exists) continue;
        found.set(runId, { isOver: isStoredAsTerminal(document.get('status')) });
      }
    }
    return found;
  }

  mark(runId: string, seen: Version, deletionMarkedAt: number | undefined): Promise<MarkResult> {
    const value = deletionMarkedAt === undefined ? {} : { deletionMarkedAt };
    return this.#update(runId, seen, encodeRetainedUpdate('deletionMarkedAt', value));
  }

  hold(runId: string, seen: Version, legalHold: LegalHold | undefined): Promise<MarkResult> {
    const value = legalHold === undefined ? {} : { legalHold };
    return this.#update(runId, seen, encodeRetainedUpdate('legalHold', value));
  }

  async deleteUnder(runId: string, limit: number): Promise<Cleared> {
    const numbered = await deleteNumbered({ db: this.db, paths: this.paths, runId, limit });
    const left = limit - numbered.spent;
    const { deleted: gone, spent, mayHaveLogs } = numbered;
    if (numbered.more || left === 0) return { deleted: gone, spent, more: true };
    const { deleted, more } = await this.#deleteFound(runId, { limit: left, mayHaveLogs });
    return { deleted: gone + deleted, spent: spent + deleted, more };
  }

  async #deleteFound(
    runId: string,
    { limit, mayHaveLogs }: { readonly limit: number; readonly mayHaveLogs: boolean },
  ): Promise<Cleared> {
    const run = this.paths.run(runId);
    const lists = [
      this.paths.memosOf(run),
      this.paths.checkpoints(run),
      this.paths.steps(run),
      this.paths.events(run),
      this.paths.payloads(run),
      this.paths.pages(run),
      ...(mayHaveLogs ? [this.paths.logs(run)] : []),
    ];
    const what = `look for what lies under run ${runId}`;
    const found = await Promise.all(lists.map((list) => call(what, () => namesOnly(list, limit).get())));
    return deleteNamed(this.db, DELETION, { found: found.flatMap(({ docs }) => docs), limit });
  }

  async deleteEffects(runId: string, limit: number): Promise<Cleared> {
    const rows = this.paths
      .effects()
      .where('runId', '==', runId)
      .orderBy('createdAt')
      .orderBy(FieldPath.documentId());
    const { docs } = await call(`look for effects of run ${runId}`, () => namesOnly(rows, limit).get());
    return deleteNamed(this.db, DELETION, { found: docs, limit });
  }

  async deleteRun(runId: string, seen: Version): Promise<MarkResult> {
    const batch = this.db.batch();
    batch.delete(this.paths.run(runId), lastUpdateTime(seen));
    batch.delete(this.paths.finding(runId));
    return whileSeen(() => call(`deletion of run ${runId}`, () => batch.commit()));
  }

  /** Makes one read for each run: each read begins after the payloads of the previous one. */
  async payloadOwners(after: string | undefined, limit: number): Promise<readonly PayloadOwner[]> {
    const owners: PayloadOwner[] = [];
    let known = after === undefined ? undefined : this.paths.run(after);
    while (owners.length < limit) {
      const next = this.paths.payloadsAfter(known).limit(1).select();
      const { docs } = await call('look for runs with payloads', () => next.get());
      const [first] = docs;
      const run = first?.ref.parent.parent;
      if (!first || !run) break;
      owners.push({ runId: run.id, writtenAt: first.updateTime.toMillis() });
      known = run;
    }
    return owners;
  }

  async deleteOrphans(runId: string, limit: number): Promise<Cleared> {
    const run = this.paths.run(runId);
    const read = await call(`look for run ${runId}`, () =>
      this.db.getAll(run, this.paths.event(run, 1), { fieldMask: ['schemaVersion'] }),
    );
    if (read.some(({ exists }) => exists)) return { deleted: 0, more: false };
    if (isExternal(runId)) {
      const rows = this.paths.effects().where('runId', '==', runId).orderBy('createdAt').limit(1);
      const { empty } = await call(`look for effects of ${runId}`, () => rows.get());
      if (!empty) return { deleted: 0, more: false };
    }
    const { docs } = await call(`look for payloads of run ${runId}`, () =>
      namesOnly(this.paths.payloads(run), limit).get(),
    );
    return deleteNamed(this.db, DELETION, { found: docs, limit });
  }

  async readProgress(): Promise<RetentionProgress> {
    const what = 'read of how far retention had come';
    const found = await call(what, () => this.paths.retention().get());
    return progressCodec.decode(found.data() ?? {}, what);
  }

  async saveProgress(progress: RetentionProgress): Promise<void> {
    const members = progressCodec.encode(progress);
    await call('note of how far retention has come', () => this.paths.retention().set(members));
  }

  #update(runId: string, seen: Version, members: Members): Promise<MarkResult> {
    const run: DocumentReference = this.paths.run(runId);
    return whileSeen(() => call(`note about run ${runId}`, () => run.update(members, lastUpdateTime(seen))));
  }
}

async function whileSeen(write: () => Promise<unknown>): Promise<MarkResult> {
  try {
    await write();
    return { kind: 'written' };
  } catch (error) {
    if (isStale(error)) return { kind: 'stale' };
    throw error;
  }
}
