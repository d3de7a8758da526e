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

    test('nothing is there before anything was set', async () => {
      expect(await store.read()).toBeUndefined();
    });

    test('what was set reads back exactly, with the version of its write', async () => {
      const version = await write(PAUSED);
      expect(await store.read()).toEqual({ config: PAUSED, version });
    });

    test('a write replaces all of it', async () => {
      const first = await write(PAUSED);
      const second = await write(ON, first);
      expect(second).not.toBe(first);
      expect(await store.read()).toEqual({ config: ON, version: second });
    });

    test('a write under a version that is not the newest changes nothing', async () => {
      const first = await write(PAUSED);
      expect(await store.write(ON, undefined)).toEqual({ kind: 'stale' });
      const second = await write({ ...PAUSED, killSwitch: true }, first);
      expect(await store.write(ON, first)).toEqual({ kind: 'stale' });
      expect(await store.read()).toEqual({ config: { ...PAUSED, killSwitch: true }, version: second });
    });

    test('of two who write over the same version one is told that it is stale', async () => {
      const seen = await write(ON);
      const kinds = await Promise.all([
        store.write(PAUSED, seen),
        store.write({ ...PAUSED, killSwitch: true }, seen),
      ]);
      expect(kinds.map(({ kind }) => kind).sort()).toEqual(['stale', 'written']);
    });

    test('a caller who goes on changing what it wrote changes nothing that is stored', async () => {
      const paused = new Map(PAUSED.paused);
      await write({ killSwitch: false, paused });
      paused.clear();
      expect((await store.read())?.config).toEqual(PAUSED);
    });
  });
}
