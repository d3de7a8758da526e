/** Logged lines in memory, with the contract of the Firestore adapter. */
import type { LogSegment } from '../../../packages/cairn/src/core/logs/segment.ts';
import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type { LogStore } from '../../../packages/cairn/src/ports/runs/log-store.ts';

export class MemoryLogStore implements LogStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async readLogs(runId: string, from = '', limit: number): Promise<readonly LogSegment[]> {
    const segments = [...(this.#db.runs.get(runId)?.logs.values() ?? [])];
    return segments
      .filter(({ id }) => id >= from)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }
}
