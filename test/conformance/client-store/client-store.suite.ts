/** What every client store promises. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ApiClient, ClientRegistry } from '../../../functions/src/ports/client-store.ts';
import type { Harness } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

const CLIENT: ApiClient = {
  id: 'ci-bot',
  tenantId: 'acme',
  roles: ['viewer', 'submitter'],
  secretHash: 'f'.repeat(64),
  disabled: false,
  createdAt: T0,
};

export function clientStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let store: ClientRegistry;
    beforeEach(async () => {
      store = (await harness.make()).clients;
    });
    afterAll(() => harness.close());

    test('a client that was never saved is not there', async () => {
      expect(await store.read('nobody')).toBeUndefined();
      expect(await store.read('a/b/c')).toBeUndefined();
    });

    test('a saved client reads back exactly', async () => {
      await store.save(CLIENT);
      await store.save({ ...CLIENT, id: 'other', roles: [] });
      expect(await store.read('ci-bot')).toEqual(CLIENT);
      expect(await store.read('other')).toEqual({ ...CLIENT, id: 'other', roles: [] });
    });

    test('saving again replaces it as a whole', async () => {
      await store.save(CLIENT);
      const disabled: ApiClient = { ...CLIENT, roles: ['viewer'], disabled: true };
      await store.save(disabled);
      expect(await store.read('ci-bot')).toEqual(disabled);
    });
  });
}
