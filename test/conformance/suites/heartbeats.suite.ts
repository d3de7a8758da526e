/** Contract of heartbeat stores. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Heartbeat, HeartbeatStore } from '../../../packages/cairn/src/ports/diagnosis/heartbeats.ts';
import type { Harness, Stores } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

const DONE: Heartbeat = { at: T0 + 5, tookMs: 5, outcome: 'done' };
const FAILED: Heartbeat = { at: T0, tookMs: 0, outcome: 'failed', error: 'the store: "no"' };

export function heartbeatsConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    let store: HeartbeatStore;
    beforeEach(async () => {
      stores = await harness.make();
      store = stores.heartbeats;
    });
    afterAll(() => harness.close());

    test('without heartbeats only the time of the store is returned', async () => {
      expect(await store.read()).toEqual({ latest: {}, readAt: stores.now() });
    });

    test('each function has its own heartbeat, of which the last is stored', async () => {
      await store.record('recoverRuns', FAILED);
      await store.record('fireSchedules', { ...DONE, outcome: 'off' });
      await store.record('recoverRuns', DONE);
      const { latest } = await store.read();
      expect(latest).toEqual({ recoverRuns: DONE, fireSchedules: { ...DONE, outcome: 'off' } });
    });

    test('a finding stays until the next one, which replaces it as a whole', async () => {
      const first = { at: T0, checked: 50, problems: { JOURNAL_GAP: 2, STEP_DIFFERENT: 1 } };
      await store.record('checkRuns', DONE, { found: first });
      await store.record('checkRuns', FAILED);
      expect((await store.read()).latest).toEqual({ checkRuns: FAILED, found: first });
      const second = { at: T0 + 1, checked: 3, problems: {} };
      await store.record('checkRuns', DONE, { found: second });
      expect((await store.read()).latest).toEqual({ checkRuns: DONE, found: second });
    });

    test('several installations are stored separately, each with its last time', async () => {
      const [here, there] = ['europe-west1/drive', 'us-central1/shop-cairn-drive'];
      await store.record('recoverRuns', FAILED, { installation: here });
      await store.record('recoverRuns', DONE, { installation: there });
      await store.record('checkRuns', DONE, { installation: here });
      const { latest } = await store.read();
      expect(latest).toEqual({
        recoverRuns: DONE,
        checkRuns: DONE,
        installations: { [here]: DONE.at, [there]: DONE.at },
      });
    });

    test('the time of the first heartbeat is stored, by the clock of the store', async () => {
      stores.passTime(1_000);
      const began = stores.now();
      await store.record('deleteExpired', DONE);
      stores.passTime(90_000);
      await store.record('deleteExpired', DONE);
      const { since = 0, readAt } = await store.read();
      expect(since - began).toBeLessThan(1_000);
      expect(readAt - since).toBeGreaterThan(88_000);
    });
  });
}
