/** Contract of store diagnosis. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Harness, Stores } from '../support/harness.ts';
import { beginning, claim, idempotencyRecord, move, T0 } from '../support/run-fixture.ts';

const HOUR_MS = 3_600_000;

export function storeLookConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterAll(() => harness.close());

    test('every index that a query needs exists', async () => {
      for (const { state } of await stores.look.indexes()) expect(state).toBe('ready');
    });

    test('runs are listed in the order in which they must be touched, with lease holder and completion duties', async () => {
      const { runs, look } = stores;
      await runs.start(beginning('run_late', { at: T0 - HOUR_MS, identity: { tenantId: 'others' } }));
      await runs.start(beginning('run_next', { at: T0 }));
      const begun = beginning('run_held', { at: T0 });
      await runs.start(begun);
      const held = move(begun.state, claim(begun.state, T0 + 300_000), {
        snapshot: true,
        metadata: { heartbeat: true, leaseExtendedTo: T0 + 400_000, publishedSeq: 1 },
      });
      await runs.commit(held.commit);
      expect(await look.waking(10)).toEqual([
        { wakeAt: T0 - HOUR_MS + 60_000, hasUnpublishedEvents: false },
        { wakeAt: T0 + 60_000, hasUnpublishedEvents: false },
        { wakeAt: T0 + 400_000, leasedUntil: T0 + 400_000, hasUnpublishedEvents: true },
      ]);
      expect(await look.waking(1)).toHaveLength(1);
    });

    test('the document of each collection that expired first is reported', async () => {
      const { idempotency, mailboxes, look } = stores;
      const before = T0 - 72 * HOUR_MS;
      expect(await look.leftOvers(before)).toEqual([]);
      for (const [key, expiresAt] of [
        ['a', before + 1],
        ['b', before - HOUR_MS],
        ['c', before],
      ] as const)
        await idempotency.create(
          idempotencyRecord(key, { expiresAt, status: key === 'b' ? 'failed' : 'completed' }),
        );
      for (let i = 0; i < 5; i += 1) {
        const memory = { waiting: [], buffered: [], delivered: [], expiresAt: before - i };
        const address = { tenantId: 't', event: 'e', key: String(i) };
        await mailboxes.write(address, { ...address, ...memory }, undefined);
      }
      expect(await look.leftOvers(before)).toEqual([
        { collection: 'gwi_idempotency', expiredAt: before - HOUR_MS },
        { collection: 'gwi_waits', expiredAt: before - 4 },
      ]);
      expect(await look.leftOvers(before - 2 * HOUR_MS)).toEqual([]);
    });
  });
}
