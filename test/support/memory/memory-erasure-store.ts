/** Erasure records in memory, and deletion of documents outside of runs. */
import type { EffectRecord } from '../../../packages/cairn/src/core/effects/effect.ts';
import { ownersOf } from '../../../packages/cairn/src/core/effects/external.ts';
import { type MailboxAddress, mailboxId } from '../../../packages/cairn/src/core/mailbox/mailbox.ts';
import type { Erasure, RunPosition } from '../../../packages/cairn/src/core/retention/erasure.ts';
import type { Schedule } from '../../../packages/cairn/src/core/schedule/schedule.ts';
import { frozenCopy, type MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { descending, sortedPage } from '../../../packages/cairn/src/memory/paging.ts';
import type { Page, PageRequest, Version } from '../../../packages/cairn/src/ports/run-store.ts';
import type {
  ClearedRecords,
  ErasureStore,
  OpenErasure,
  StoredErasure,
  TenantDocuments,
  TenantRecords,
  TenantRun,
  TenantRuns,
} from '../../../packages/cairn/src/ports/runs/erasure-store.ts';
import type { Cleared, MarkResult } from '../../../packages/cairn/src/ports/runs/retention-store.ts';

export class MemoryErasureStore implements ErasureStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async read(id: string): Promise<StoredErasure | undefined> {
    return this.#db.erasures.get(id);
  }

  async create(erasure: Erasure): ReturnType<ErasureStore['create']> {
    if (this.#db.erasures.has(erasure.id)) return { kind: 'exists' };
    this.#set(erasure);
    return { kind: 'created' };
  }

  async write(erasure: Erasure, seen: Version): Promise<MarkResult> {
    if (this.#db.erasures.get(erasure.id)?.version !== seen) return { kind: 'stale' };
    this.#set(erasure);
    return { kind: 'written' };
  }

  async open(after: string | undefined, limit: number): Promise<readonly OpenErasure[]> {
    return [...this.#db.erasures.values()]
      .filter(({ erasure: { state, id } }) => state === 'open' && (after === undefined || id > after))
      .sort((a, b) => (a.erasure.id < b.erasure.id ? -1 : 1))
      .slice(0, limit)
      .map((stored) => ({ id: stored.erasure.id, stored }));
  }

  async list(tenantHash: string | undefined, page: PageRequest): Promise<Page<Erasure>> {
    const all = [...this.#db.erasures.values()].map(({ erasure }) => erasure);
    const matching = tenantHash === undefined ? all : all.filter((one) => one.tenantHash === tenantHash);
    return sortedPage(matching, page, {
      list: 'erasures',
      positionOf: ({ requestedAt, id }) => [requestedAt, id],
      compare: descending,
    });
  }

  async runsOf({ tenantId, until, after, limit }: TenantRuns): Promise<readonly TenantRun[]> {
    return [...this.#db.runs.values()]
      .map(({ snapshot }) => snapshot)
      .filter((run) => run.tenantId === tenantId && run.createdAt <= until)
      .map(({ id: runId, rootRunId, createdAt }) => ({ runId, rootRunId, createdAt }))
      .filter((run) => after === undefined || byAge(run, after) > 0)
      .sort(byAge)
      .slice(0, limit);
  }

  async deleteRecordsOfRun(runId: string, limit: number): Promise<Cleared> {
    return clear(this.#db.records, ({ record }) => record.runId === runId, limit);
  }

  async deleteRecords({ tenantId, until, after }: TenantRecords, limit: number): Promise<ClearedRecords> {
    const own = [...this.#db.records]
      .filter(([key, { record }]) => record.tenantId === tenantId && key > (after ?? ''))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const part = own.slice(0, limit);
    const old = part.filter(([, { record }]) => record.createdAt <= until);
    for (const [key] of old) this.#db.records.delete(key);
    return { deleted: old.length, more: own.length > limit, lastKey: part.at(-1)?.[0] };
  }

  async mailboxesOf(
    tenantId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly MailboxAddress[]> {
    return [...this.#db.mailboxes.values()]
      .flatMap(({ mailbox }) => (mailbox.tenantId === tenantId ? [mailbox] : []))
      .map(({ event, key }) => ({ tenantId, event, key }))
      .filter((address) => after === undefined || mailboxId(address) > after)
      .sort((a, b) => (mailboxId(a) < mailboxId(b) ? -1 : 1))
      .slice(0, limit);
  }

  async deleteSchedules({ tenantId, until }: TenantDocuments, limit: number): Promise<Cleared> {
    const isOwn = (one: Schedule) => one.tenantId === tenantId && one.createdAt <= until;
    return clear(this.#db.schedules, ({ schedule }) => isOwn(schedule), limit);
  }

  async deleteExternalEffects({ tenantId, until }: TenantDocuments, limit: number): Promise<Cleared> {
    const isOwn = ({ runId, createdAt }: EffectRecord) =>
      runId.startsWith(ownersOf(tenantId)) && createdAt <= until;
    for (const { record } of [...this.#db.effects.values()]
      .filter(({ record }) => isOwn(record))
      .slice(0, limit))
      for (const key of this.#db.payloads.keys())
        if ((JSON.parse(key) as unknown[])[0] === record.recordedResultRef?.runId)
          this.#db.payloads.delete(key);
    return clear(this.#db.effects, ({ record }) => isOwn(record), limit);
  }

  #set(erasure: Erasure): void {
    this.#db.erasures.set(erasure.id, { erasure: frozenCopy(erasure), version: this.#db.nextVersion() });
  }
}

function byAge(a: RunPosition, b: RunPosition): number {
  return descending([a.createdAt, a.runId], [b.createdAt, b.runId]);
}

function clear<T>(documents: Map<string, T>, is: (document: T) => boolean, limit: number): Cleared {
  const found = [...documents].filter(([, document]) => is(document));
  for (const [key] of found.slice(0, limit)) documents.delete(key);
  return { deleted: Math.min(limit, found.length), more: found.length > limit };
}
