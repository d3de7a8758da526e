/** Contract of client stores. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ApiClient, ClientRegistry } from '../../../packages/cairn/src/ports/access/client-store.ts';
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

    test('a client that was never created is missing', async () => {
      expect(await store.read('nobody')).toBeUndefined();
      expect(await store.read('a/b/c')).toBeUndefined();
    });

    test('a created client reads back unchanged', async () => {
      await store.create(CLIENT);
      await store.create({ ...CLIENT, id: 'other', roles: [] });
      expect(await store.read('ci-bot')).toEqual(CLIENT);
      expect(await store.read('other')).toEqual({ ...CLIENT, id: 'other', roles: [] });
    });

    test('every member reads back unchanged', async () => {
      const whole: ApiClient = {
        ...CLIENT,
        name: 'CI, Köln',
        createdBy: 'u.someone',
        retired: [{ secretHash: 'e'.repeat(64), until: T0 + 1 }],
        secretOf: 'a request',
      };
      await store.create(whole);
      expect(await store.read('ci-bot')).toEqual(whole);
      expect((await store.find('ci-bot'))?.client).toEqual(whole);
      expect(await store.find('nobody')).toBeUndefined();
    });

    test('a client is created once', async () => {
      expect(await store.create(CLIENT)).toEqual({ kind: 'created' });
      expect(await store.create({ ...CLIENT, tenantId: 'rival' })).toEqual({ kind: 'exists' });
      expect(await store.read('ci-bot')).toEqual(CLIENT);
    });

    test('a client is replaced as a whole, and only in the version last seen', async () => {
      await store.create({ ...CLIENT, name: 'before' });
      const seen = (await store.find('ci-bot'))?.version ?? '';
      const changed: ApiClient = { ...CLIENT, disabled: true };
      expect(await store.replace(changed, seen)).toEqual({ kind: 'replaced' });
      expect(await store.replace({ ...CLIENT, name: 'late' }, seen)).toEqual({ kind: 'stale' });
      expect(await store.replace({ ...CLIENT, id: 'nobody' }, seen)).toEqual({ kind: 'stale' });
      expect(await store.read('ci-bot')).toEqual(changed);
      expect(await store.read('nobody')).toBeUndefined();
    });

    test('a list has the clients of one tenant by id, up to a limit', async () => {
      for (const id of ['c', 'a', 'b']) await store.create({ ...CLIENT, id });
      await store.create({ ...CLIENT, id: 'aa', tenantId: 'rival' });
      expect((await store.list('acme', 10)).items.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
      expect((await store.list('acme', 2)).items.map(({ id }) => id)).toEqual(['a', 'b']);
      expect(await store.list('nobody', 10)).toEqual({ items: [], unreadable: [] });
    });
  });
}
