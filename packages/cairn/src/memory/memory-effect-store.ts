/** The side-effect ledger in memory. Its methods have the same guarantees as those of the memory run store. */
import {
  type EffectChange,
  type EffectRecord,
  type EffectWrite,
  MAX_ROWS_PER_KEY,
} from '../core/effects/effect.ts';
import type { Page, PageRequest, Version } from '../ports/run-store.ts';
import type {
  AskingRows,
  EffectChanged,
  EffectCreated,
  ExternalEffectStore,
  RowsNow,
  StoredEffect,
} from '../ports/runs/effect-store.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';
import { ascending, sortedPage } from './paging.ts';

export class MemoryEffectStore extends MemoryStore implements ExternalEffectStore {
  async rowsOf(idempotencyKey: string): Promise<readonly StoredEffect[]> {
    const rows = [...this.db.effects.values()].filter(
      ({ record }) => record.idempotencyKey === idempotencyKey,
    );
    if (rows.length > MAX_ROWS_PER_KEY) throw new Error(`there are more than ${MAX_ROWS_PER_KEY} rows`);
    return rows.sort((a, b) => b.record.n - a.record.n);
  }

  async rowsNow(idempotencyKey: string): Promise<RowsNow> {
    return { rows: await this.rowsOf(idempotencyKey), readAt: this.db.now() };
  }

  async create(record: EffectRecord): Promise<EffectCreated> {
    const write: EffectWrite = { kind: 'create', record };
    if (!this.mayWrite([write])) return { kind: 'exists' };
    return { kind: 'created', version: this.write([write]) };
  }

  async asking(tenantId: string, until: number, limit: number): Promise<AskingRows> {
    const since = ({ askingSince }: EffectRecord) => askingSince ?? Number.POSITIVE_INFINITY;
    const items = [...this.db.effects.values()]
      .map(({ record }) => record)
      .filter((record) => record.tenantId === tenantId && since(record) <= until)
      .sort((a, b) => since(a) - since(b) || (a.effectId < b.effectId ? -1 : 1))
      .slice(0, limit);
    return { items, unreadable: [] };
  }

  async read(effectId: string): Promise<StoredEffect | undefined> {
    return this.db.effects.get(effectId);
  }

  async change(effectId: string, seen: Version, change: EffectChange): Promise<EffectChanged> {
    const write: EffectWrite = { kind: 'change', effectId, seen, change };
    if (!this.mayWrite([write])) return { kind: 'stale' };
    return { kind: 'changed', version: this.write([write]) };
  }

  async listOfRun(runId: string, page: PageRequest): Promise<Page<EffectRecord>> {
    const records = [...this.db.effects.values()].map(({ record }) => record);
    return sortedPage(
      records.filter((record) => record.runId === runId),
      page,
      {
        list: 'effects',
        positionOf: ({ createdAt, effectId }) => [createdAt, effectId],
        compare: ascending,
      },
    );
  }

  /** Returns true if all preconditions hold: for journal commits, which also write rows. */
  mayWrite(writes: readonly EffectWrite[]): boolean {
    return writes.every((write) =>
      write.kind === 'create'
        ? !this.db.effects.has(write.record.effectId)
        : this.db.effects.get(write.effectId)?.version === write.seen,
    );
  }

  write(writes: readonly EffectWrite[]): Version {
    const version = this.db.nextVersion();
    for (const write of writes) {
      const record = write.kind === 'create' ? write.record : this.#changed(write.effectId, write.change);
      this.db.effects.set(record.effectId, { record: frozenCopy(record), version });
    }
    return version;
  }

  #changed(effectId: string, change: EffectChange): EffectRecord {
    const before = this.db.effects.get(effectId)?.record;
    if (!before) throw new Error(`effect ${effectId} does not exist`);
    const after = Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined);
    return Object.fromEntries(after) as unknown as EffectRecord;
  }
}
