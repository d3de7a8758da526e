/** Contract of stores of the runtime configuration. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RuntimeConfig, RuntimeConfigStore } from '../../../packages/cairn/src/ports/runtime-config.ts';
import type { Harness } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

const ON: RuntimeConfig = { killSwitch: true, paused: new Map() };
const PAUSED: RuntimeConfig = {
  killSwitch: false,
  paused: new Map([
    ['review-pull-request', { since: T0, by: 'c.ops', reason: 'wrong labels' }],
    // Every object has a member of this name.
    ['constructor', { since: T0 + 1, by: 'c.ops' }],
  ]),
};

export function runtimeConfigConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let store: RuntimeConfigStore;
    beforeEach(async () => {
      store = (await harness.make()).config;
    });
    afterAll(() => harness.close());

    async function write(config: RuntimeConfig, seen?: string): Promise<string> {
      const written = await store.write(config, seen);
      if (written.kind === 'stale') throw new Error('stale');
      return written.version;
    }

    test('an unset configuration is absent', async () => {
      expect(await store.read()).toBeUndefined();
    });

    test('a configuration reads back unchanged, with the version of its write', async () => {
      const version = await write(PAUSED);
      expect(await store.read()).toEqual({ config: PAUSED, version });
    });

    test('a write replaces the whole configuration', async () => {
      const first = await write(PAUSED);
      const second = await write(ON, first);
      expect(second).not.toBe(first);
      expect(await store.read()).toEqual({ config: ON, version: second });
    });

    test('a write under an old version changes nothing', async () => {
      const first = await write(PAUSED);
      expect(await store.write(ON, undefined)).toEqual({ kind: 'stale' });
      const second = await write({ ...PAUSED, killSwitch: true }, first);
      expect(await store.write(ON, first)).toEqual({ kind: 'stale' });
      expect(await store.read()).toEqual({ config: { ...PAUSED, killSwitch: true }, version: second });
    });

    test('one of two writes over the same version is stale', async () => {
      const seen = await write(ON);
      const kinds = await Promise.all([
        store.write(PAUSED, seen),
        store.write({ ...PAUSED, killSwitch: true }, seen),
      ]);
      expect(kinds.map(({ kind }) => kind).sort()).toEqual(['stale', 'written']);
    });

    test('changing a configuration after it was written does not change the store', async () => {
      const paused = new Map(PAUSED.paused);
      await write({ killSwitch: false, paused });
      paused.clear();
      expect((await store.read())?.config).toEqual(PAUSED);
    });
  });
}
