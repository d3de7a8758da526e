/**
 * Deletion and holds of runs in memory. Deleting the document of a run does not delete documents under it; these become orphans, as
 * in the other adapter.
 */
import { isExternal } from '../../../packages/cairn/src/core/effects/external.ts';
import { encodeKey } from '../../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import type { LegalHold } from '../../../packages/cairn/src/core/retention/lineage.ts';
import { END_STATUSES, isEndStatus } from '../../../packages/cairn/src/core/retention/policy.ts';
import { NewerSchemaError, SCHEMA_VERSION } from '../../../packages/cairn/src/core/run/events.ts';
import type { VolatileMetadata } from '../../../packages/cairn/src/core/run/state.ts';
import { isTerminal } from '../../../packages/cairn/src/core/run/status.ts';
import {
  freeze,
  type MemoryDatabase,
  type RunDocuments,
} from '../../../packages/cairn/src/memory/memory-database.ts';
import { ascending } from '../../../packages/cairn/src/memory/paging.ts';
import type { Version } from '../../../packages/cairn/src/ports/run-store.ts';
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
} from '../../../packages/cairn/src/ports/runs/retention-store.ts';

export class MemoryRetentionStore implements RetentionStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async nextBucket(after: Bucket | undefined): Promise<Bucket | undefined> {
    const found = new Map<string, Bucket>();
    for (const { snapshot } of this.#db.runs.values()) {
      const { status, type, completedAt } = snapshot;
      if (completedAt !== undefined && isEndStatus(status)) found.set(`${status} ${type}`, { status, type });
    }
    return [...found.values()]
      .sort(byBucket)
      .find((bucket) => after === undefined || byBucket(bucket, after) > 0);
  }

  async ended({ bucket, until, after, limit }: EndedQuery): Promise<readonly EndedRun[]> {
    const found: EndedRun[] = [];
    for (const { snapshot } of this.#db.runs.values()) {
      const { id: runId, rootRunId, tenantId, completedAt } = snapshot;
      if (snapshot.status !== bucket.status || snapshot.type !== bucket.type) continue;
      if (completedAt === undefined || completedAt > until) continue;
      const run = { runId, rootRunId, tenantId, completedAt };
      if (after !== undefined && byEnd(run, after) <= 0) continue;
      const last = found.at(-1);
      if (found.length === limit && last && byEnd(run, last) > 0) continue;
      // Keeps only the requested number, because sorting all runs for each page would be slow.
      const at = found.findIndex((one) => byEnd(one, run) > 0);
      found.splice(at < 0 ? found.length : at, 0, run);
      if (found.length > limit) found.pop();
    }
    return found;
  }

  async lineage(rootRunId: string, limit: number): Promise<readonly LineageMember[]> {
    const members: LineageMember[] = [];
    for (const runId of this.#db.lineages.get(rootRunId) ?? []) {
      const run = this.#db.runs.get(runId);
      if (!run) continue;
      members.push(memberOf(run));
      if (members.length === limit) break;
    }
    return members;
  }

  async present(runIds: readonly string[]): Promise<ReadonlyMap<string, { readonly isOver: boolean }>> {
    return new Map(
      runIds.flatMap((runId) => {
        const run = this.#db.runs.get(runId);
        return run ? [[runId, { isOver: isTerminal(run.snapshot.status) }]] : [];
      }),
    );
  }

  async mark(runId: string, seen: Version, markedAt: number | undefined): Promise<MarkResult> {
    return this.#write(runId, seen, ({ deletionMarkedAt: _, ...metadata }) => ({
      ...metadata,
      deletionMarkedAt: markedAt,
    }));
  }

  async hold(runId: string, seen: Version, hold: LegalHold | undefined): Promise<MarkResult> {
    return this.#write(runId, seen, ({ legalHold: _, ...metadata }) => ({
      ...metadata,
      legalHold: hold,
    }));
  }

  async deleteUnder(runId: string, limit: number): Promise<Cleared> {
    const run = this.#db.runs.get(runId) ?? this.#db.orphans.get(runId);
    const { memos, payloads } = this.#db;
    const removals = [
      ...keysOf(memos, runId).map((key) => () => memos.delete(key)),
      ...(run ? [...run.checkpoints.keys()].map((seq) => () => run.checkpoints.delete(seq)) : []),
      ...(run ? [...run.steps.keys()].map((key) => () => run.steps.delete(key)) : []),
      ...(run ? [...run.logs.keys()].map((id) => () => run.logs.delete(id)) : []),
      // Deletes the newest first, so that a list never has a hole.
      ...(run ? run.events.map(() => () => run.events.pop()) : []),
      ...keysOf(payloads, runId).map((key) => () => payloads.delete(key)),
    ];
    return removed(removals, limit);
  }

  async deleteEffects(runId: string, limit: number): Promise<Cleared> {
    const own = [...this.#db.effects].filter(([, { record }]) => record.runId === runId);
    return removed(
      own.map(
        ([effectId]) =>
          () =>
            this.#db.effects.delete(effectId),
      ),
      limit,
    );
  }

  async deleteRun(runId: string, seen: Version): Promise<MarkResult> {
    const run = this.#db.runs.get(runId);
    if (run?.version !== seen) return { kind: 'stale' };
    this.#db.runs.delete(runId);
    this.#db.findings.delete(runId);
    this.#db.noteChange();
    const left = run.events.length + run.checkpoints.size + run.steps.size + run.logs.size;
    if (left > 0) this.#db.orphans.set(runId, run);
    return { kind: 'written' };
  }

  async payloadOwners(after: string | undefined, limit: number): Promise<readonly PayloadOwner[]> {
    const owners = new Map<string, number>();
    for (const key of [...this.#db.payloads.keys()].sort()) {
      const runId = ownerOf(key);
      if (!owners.has(runId)) owners.set(runId, this.#db.payloadTimes.get(key) ?? 0);
    }
    return [...owners]
      .map(([runId, writtenAt]) => ({ runId, writtenAt }))
      .sort((a, b) => ascending([0, a.runId], [0, b.runId]))
      .filter(({ runId }) => after === undefined || encodeKey(runId) > encodeKey(after))
      .slice(0, limit);
  }

  async deleteOrphans(runId: string, limit: number): Promise<Cleared> {
    const { runs, orphans, payloads, effects } = this.#db;
    const isOfRun = runs.has(runId) || (orphans.get(runId)?.events.length ?? 0) > 0;
    const isOfEffect = [...effects.values()].some(
      ({ record }) => isExternal(runId) && record.runId === runId,
    );
    if (isOfRun || isOfEffect) return { deleted: 0, more: false };
    return removed(
      keysOf(payloads, runId).map((key) => () => payloads.delete(key)),
      limit,
    );
  }

  async readProgress(): Promise<RetentionProgress> {
    return this.#db.retention;
  }

  async saveProgress(progress: RetentionProgress): Promise<void> {
    this.#db.retention = freeze({ ...progress });
  }

  #write(runId: string, seen: Version, change: (metadata: VolatileMetadata) => VolatileMetadata): MarkResult {
    const run = this.#db.runs.get(runId);
    if (run?.version !== seen) return { kind: 'stale' };
    run.metadata = freeze(change(run.metadata));
    run.version = this.#db.nextVersion();
    return { kind: 'written' };
  }
}

function memberOf({ snapshot, metadata, wakeAt, version }: RunDocuments): LineageMember {
  const { id: runId, tenantId, type, status, completedAt, parent, ties, schemaVersion } = snapshot;
  if (schemaVersion > SCHEMA_VERSION) throw new NewerSchemaError(`run ${runId}`, schemaVersion);
  return {
    runId,
    tenantId,
    type,
    status,
    completedAt,
    hasDuties: wakeAt !== undefined,
    hold: metadata.legalHold,
    markedAt: metadata.deletionMarkedAt,
    parentRunId: parent?.runId,
    childRunIds: ties.flatMap((one) => (one.kind === 'child' ? [one.runId] : [])),
    version,
  };
}

function removed(removals: readonly (() => unknown)[], limit: number): Cleared {
  for (const remove of removals.slice(0, limit)) remove();
  return { deleted: Math.min(limit, removals.length), more: removals.length > limit };
}

/** Keys of values under a run: JSON lists that begin with its id. */
function keysOf(values: ReadonlyMap<string, unknown>, runId: string): string[] {
  const beginning = `${JSON.stringify([runId]).slice(0, -1)},`;
  return [...values.keys()].filter((key) => key.startsWith(beginning));
}

function ownerOf(key: string): string {
  return String((JSON.parse(key) as unknown[])[0]);
}

function byBucket(a: Bucket, b: Bucket): number {
  if (a.status === b.status) return a.type === b.type ? 0 : a.type < b.type ? -1 : 1;
  return END_STATUSES.indexOf(a.status) - END_STATUSES.indexOf(b.status);
}

function byEnd(a: { completedAt: number; runId: string }, b: { completedAt: number; runId: string }): number {
  return ascending([a.completedAt, a.runId], [b.completedAt, b.runId]);
}
