/** Diagnosis of a store in memory. It has no indexes, and deletes nothing by itself. */
import { hasUnpublishedEvents } from '../../../packages/cairn/src/core/run/state.ts';
import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type {
  LeftOver,
  SeenIndex,
  StoreProbe,
  WakingRun,
} from '../../../packages/cairn/src/ports/diagnosis/store-probe.ts';

export class MemoryStoreProbe implements StoreProbe {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async indexes(): Promise<readonly SeenIndex[]> {
    return [];
  }

  async leftOvers(before: number): Promise<readonly LeftOver[]> {
    const records = [...this.#db.records.values()].map(({ record }) => record.expiresAt);
    const mailbox = [...this.#db.mailboxes.values()].map(({ mailbox: one }) => one.expiresAt);
    return [['gwi_idempotency', records] as const, ['gwi_waits', mailbox] as const].flatMap(
      ([collection, times]) => {
        const expired = times.filter((at) => at !== undefined && at <= before) as number[];
        return expired.length === 0 ? [] : [{ collection, expiredAt: Math.min(...expired) }];
      },
    );
  }

  async waking(limit: number): Promise<readonly WakingRun[]> {
    const waking: WakingRun[] = [];
    for (const { snapshot, metadata, wakeAt } of this.#db.runs.values()) {
      if (wakeAt === undefined) continue;
      const until = snapshot.lease && Math.max(snapshot.lease.expiresAt, metadata.leaseExtendedTo ?? 0);
      waking.push({
        wakeAt,
        leasedUntil: until,
        hasUnpublishedEvents: hasUnpublishedEvents(snapshot, metadata),
      });
    }
    return waking.sort((a, b) => a.wakeAt - b.wakeAt).slice(0, limit);
  }
}
