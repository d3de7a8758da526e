/** Random sample of runs in memory. */
import { RECORD_TTL_MS } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type { RecordedStart, RunSample } from '../../../packages/cairn/src/ports/runs/integrity-store.ts';

export class MemoryRunSample implements RunSample {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async newest(tenantId: string, limit: number): Promise<readonly string[]> {
    return [...this.#db.runs]
      .filter(([, { snapshot }]) => snapshot.tenantId === tenantId)
      .sort(([, a], [, b]) => b.snapshot.createdAt - a.snapshot.createdAt)
      .slice(0, limit)
      .map(([runId]) => runId);
  }

  async following(runId: string, limit: number): Promise<readonly string[]> {
    const ids = [...this.#db.runs.keys()].filter((id) => id > runId);
    return ids.sort().slice(0, limit);
  }

  async startedSince(at: number, limit: number): Promise<readonly RecordedStart[]> {
    return [...this.#db.records.values()]
      .map(({ record }) => record)
      .filter(({ status, expiresAt }) => status === 'completed' && expiresAt > at + RECORD_TTL_MS)
      .sort((a, b) => a.expiresAt - b.expiresAt)
      .slice(0, limit)
      .flatMap(({ runId, tenantId }) => (runId === undefined ? [] : [{ runId, tenantId }]));
  }

  async existing(runIds: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(runIds.filter((runId) => this.#db.runs.has(runId)));
  }
}
