/** Heartbeats in memory. */

import { frozenCopy, type MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type {
  EndReport,
  Heartbeat,
  HeartbeatStore,
  ScheduledFunction,
  StoredHeartbeats,
} from '../../../packages/cairn/src/ports/diagnosis/heartbeats.ts';

export class MemoryHeartbeatStore implements HeartbeatStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async record(
    name: ScheduledFunction,
    heartbeat: Heartbeat,
    { found, installation }: EndReport = {},
  ): Promise<void> {
    const { latest, since = this.#db.now() } = this.#db.heartbeats;
    const changed = {
      [name]: frozenCopy(heartbeat),
      ...(found ? { found: frozenCopy(found) } : {}),
      ...(installation === undefined
        ? {}
        : { installations: { ...latest.installations, [installation]: heartbeat.at } }),
    };
    this.#db.heartbeats = { latest: { ...latest, ...changed }, since };
  }

  async read(): Promise<StoredHeartbeats> {
    return { ...this.#db.heartbeats, readAt: this.#db.now() };
  }
}
