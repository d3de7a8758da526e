/** An adapter over the shared database in memory. */
import type { MemoryDatabase } from './memory-database.ts';

export abstract class MemoryStore {
  protected readonly db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.db = db;
  }
}
