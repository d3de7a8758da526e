/** Contract of idempotency stores. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { IdempotencyRecord } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import type { IdempotencyStore } from '../../../packages/cairn/src/ports/idempotency-store.ts';
import type { Harness } from '../support/harness.ts';
import { beginning, idempotencyRecord } from '../support/run-fixture.ts';

export function idempotencyStoreConformance(name: string, harness: Harness): void {
  describe(`${name}`, () => {
    let store: IdempotencyStore;
    let start: (record: IdempotencyRecord) => Promise<{ kind: string }>;
    beforeEach(async () => {
      const stores = await harness.make();
      store = stores.idempotency;
      start = (record) => stores.runs.start(beginning('run_1', { records: [{ record }] }));
    });
    afterAll(() => harness.close());

    async function created(record: IdempotencyRecord): Promise<string> {
      const result = await store.create(record);
      if (result.kind !== 'created') throw new Error('the record was there already');
      return result.version;
    }

    test('an unused key has no record', async () => {
      expect(await store.read('api:c.1:none')).toBeUndefined();
    });

    test.each([
      'plain',
      'github:1b2c-3d',
      'api:c.1:a/b',
      'with space, ümlaut, 🪨 and %2F',
      '.',
      '..',
      '__reserved__',
      'k'.repeat(1_500),
    ])('a record under the key %j reads back unchanged', async (key) => {
      const record = idempotencyRecord(key, { error: 'e', lockExpiresAt: 5 });
      const version = await created(record);
      expect(await store.read(key)).toEqual({ record, version });
    });

    test('a record without optional members reads back without them', async () => {
      const { runId: _, response: __, ...bare } = idempotencyRecord('k', { status: 'processing' });
      await created(bare);
      const found = (await store.read('k'))?.record;
      expect(Object.keys(found ?? {}).sort()).toEqual(Object.keys(bare).sort());
    });

    test('a null response is stored as a response', async () => {
      await created(idempotencyRecord('k', { response: null }));
      expect((await store.read('k'))?.record.response).toBeNull();
    });

    test('keys that differ in one character are separate', async () => {
      await created(idempotencyRecord('a/b'));
      await created(idempotencyRecord('a%2Fb', { attempts: 2 }));
      expect((await store.read('a/b'))?.record.attempts).toBe(1);
      expect((await store.read('a%2Fb'))?.record.attempts).toBe(2);
    });

    test.each(['', 'k'.repeat(1_501), '\ud800'])('the invalid key %j is refused', async (key) => {
      const invalid = { code: 'INVALID_INPUT' };
      await expect(store.read(key)).rejects.toMatchObject(invalid);
      await expect(store.create(idempotencyRecord(key))).rejects.toMatchObject(invalid);
      await expect(start(idempotencyRecord(key))).rejects.toMatchObject(invalid);
    });

    test('a second creation changes nothing', async () => {
      const first = idempotencyRecord('k');
      const version = await created(first);
      expect(await store.create(idempotencyRecord('k', { attempts: 2 }))).toEqual({ kind: 'exists' });
      expect(await store.read('k')).toEqual({ record: first, version });
    });

    test('exactly one of many concurrent creations succeeds', async () => {
      const records = Array.from({ length: 20 }, (_, i) => idempotencyRecord('k', { runId: `run_${i}` }));
      const results = await Promise.all(records.map((record) => store.create(record)));
      expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(1);
      const winner = records[results.findIndex(({ kind }) => kind === 'created')];
      expect((await store.read('k'))?.record).toEqual(winner);
    });

    test('a replacement keeps nothing of the earlier record', async () => {
      const seen = await created(idempotencyRecord('k', { error: 'e', lockExpiresAt: 5 }));
      const { runId: _, response: __, ...next } = idempotencyRecord('k', { status: 'failed', attempts: 2 });
      const replaced = await store.replace(next, seen);
      const found = await store.read('k');
      expect(replaced).toEqual({ kind: 'replaced', version: found?.version });
      expect(found?.version).not.toBe(seen);
      expect(Object.keys(found?.record ?? {}).sort()).toEqual(Object.keys(next).sort());
      expect(found?.record).toEqual(next);
    });

    test('a replacement of another version than the one seen, or of a missing record, is stale', async () => {
      const seen = await created(idempotencyRecord('k'));
      const second = idempotencyRecord('k', { attempts: 2 });
      await store.replace(second, seen);
      expect(await store.replace(idempotencyRecord('k', { attempts: 3 }), seen)).toEqual({ kind: 'stale' });
      expect(await store.replace(idempotencyRecord('gone'), seen)).toEqual({ kind: 'stale' });
      expect((await store.read('k'))?.record).toEqual(second);
      expect(await store.read('gone')).toBeUndefined();
    });

    test('exactly one of many concurrent replacements of a version succeeds', async () => {
      const seen = await created(idempotencyRecord('k'));
      const tries = Array.from({ length: 20 }, (_, i) =>
        idempotencyRecord('k', { attempts: 2, runId: `run_${i}` }),
      );
      const results = await Promise.all(tries.map((record) => store.replace(record, seen)));
      expect(results.filter(({ kind }) => kind === 'replaced')).toHaveLength(1);
      const winner = tries[results.findIndex(({ kind }) => kind === 'replaced')];
      expect((await store.read('k'))?.record).toEqual(winner);
    });

    test('changing a record after it was saved does not change the store', async () => {
      const response = { runId: 'run_1' };
      await created(idempotencyRecord('k', { response }));
      response.runId = 'changed';
      expect((await store.read('k'))?.record.response).toEqual({ runId: 'run_1' });
    });
  });
}
