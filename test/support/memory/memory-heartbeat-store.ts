/** Signs of life in memory. */

import { adopt, type MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type {
  BeatingFunction,
  EndReport,
  HeardBeats,
  Heartbeat,
  HeartbeatStore,
} from '../../../packages/cairn/src/ports/diagnosis/heartbeats.ts';

export class MemoryHeartbeatStore implements HeartbeatStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async beat(name: BeatingFunction, beat: Heartbeat, { found, installation }: EndReport = {}): Promise<void> {
    const { beats, since = this.#db.now() } = this.#db.heartbeats;
    const changed = {
      [name]: adopt(beat),
      ...(found ? { found: adopt(found) } : {}),
      ...(installation === undefined
        ? {}
        : { installations: { ...beats.installations, [installation]: beat.at } }),
    };
    this.#db.heartbeats = { beats: { ...beats, ...changed }, since };
  }

  async read(): Promise<HeardBeats> {
    return { ...this.#db.heartbeats, readAt: this.#db.now() };
  }
}
