/** Contract of event mailbox stores. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type {
  Rendezvous,
  RendezvousAddress,
  RendezvousStore,
} from '../../../packages/cairn/src/ports/rendezvous-store.ts';
import type { Harness } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

const PLACE: RendezvousAddress = { tenantId: 'acme', event: 'ci finished', key: 'refs/heads/main' };

function rendezvous(changes: Partial<Rendezvous> = {}): Rendezvous {
  return {
    ...PLACE,
    waiting: [{ runId: 'run_1', waitId: 'ci.1' }],
    early: [
      {
        eventId: 'e.1',
        dataText: '{"quoted":"\\"\\\\","ümlaut":"🪨","nested":[[1],[2]]}',
        at: T0,
        expiresAt: T0 + 5,
        takenIn: [],
      },
      {
        eventId: 'e.2',
        dataText: 'null',
        actor: 'c.ci',
        at: T0,
        expiresAt: T0 + 5,
        takenBy: { runId: 'run_2', waitId: 'ci.3' },
        passing: 'giver',
        takenIn: ['run_3'],
      },
    ],
    delivered: [{ eventId: 'e.0', at: T0, takenIn: ['run_4', 'run_5'] }],
    ...changes,
  };
}

const BARE = rendezvous({ waiting: [], early: [], delivered: [] });

export function rendezvousStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let store: RendezvousStore;
    beforeEach(async () => {
      store = (await harness.make()).rendezvous;
    });
    afterAll(() => harness.close());

    async function written(value: Rendezvous, seen?: string): Promise<string> {
      expect(await store.write(value, value, seen)).toEqual({ kind: 'written' });
      const stored = await store.read(value);
      if (!stored) throw new Error('it is not there');
      return stored.version;
    }

    test('where nobody was, nothing is', async () => {
      expect(await store.read(PLACE)).toBeUndefined();
    });

    test.each([
      ['full', rendezvous()],
      ['bare', BARE],
      ['with a time to go', rendezvous({ waiting: [], expiresAt: T0 + 7 })],
    ])('what is %s reads back exactly', async (_, value) => {
      const version = await written(value);
      expect(await store.read(PLACE)).toEqual({ rendezvous: value, version });
    });

    test('a replacement leaves nothing of what was there', async () => {
      const first = await written(rendezvous({ waiting: [], expiresAt: T0 + 7 }));
      const second = await written(BARE, first);
      expect(second).not.toBe(first);
      expect(await store.read(PLACE)).toEqual({ rendezvous: BARE, version: second });
    });

    test.each([
      ['tenant', { tenantId: 'acme2' }],
      ['event', { event: 'ci' }],
      ['key', { key: '' }],
      ['border between them', { event: 'ci finished/refs', key: 'heads/main' }],
      ['tenant that looks like the rest', { tenantId: 'acme/ci finished', event: 'refs', key: 'heads/main' }],
    ])('another %s is another place', async (_, change) => {
      await written(rendezvous());
      expect(await store.read({ ...PLACE, ...change })).toBeUndefined();
    });

    test('a write where somebody was faster changes nothing', async () => {
      const version = await written(rendezvous());
      expect(await store.write(PLACE, BARE, undefined)).toEqual({ kind: 'stale' });
      const newer = await written(rendezvous({ waiting: [] }), version);
      expect(await store.write(PLACE, BARE, version)).toEqual({ kind: 'stale' });
      expect(await store.write(PLACE, undefined, version)).toEqual({ kind: 'stale' });
      expect(await store.read(PLACE)).toEqual({ rendezvous: rendezvous({ waiting: [] }), version: newer });
    });

    test('what was deleted is gone: a write over it is stale, a new one is not', async () => {
      const version = await written(rendezvous());
      expect(await store.write(PLACE, undefined, version)).toEqual({ kind: 'written' });
      expect(await store.read(PLACE)).toBeUndefined();
      expect(await store.write(PLACE, BARE, version)).toEqual({ kind: 'stale' });
      expect(await store.write(PLACE, undefined, version)).toEqual({ kind: 'stale' });
      expect(await written(BARE)).not.toBe(version);
    });

    test('of many writes at once exactly one is made, first and later', async () => {
      const race = async (seen?: string) => {
        const values = Array.from({ length: 10 }, (_, i) =>
          rendezvous({ waiting: [{ runId: `run_${i}`, waitId: `after ${seen}` }] }),
        );
        const results = await Promise.all(values.map((value) => store.write(PLACE, value, seen)));
        const winners = values.filter((_, i) => results[i]?.kind === 'written');
        expect(winners).toHaveLength(1);
        const stored = await store.read(PLACE);
        expect(stored?.rendezvous).toEqual(winners[0]);
        return stored?.version;
      };
      await race(await race());
    });

    test('holds as many waits and as much data as the engine allows at once', async () => {
      const waitId = `${'s'.repeat(100)}.100`;
      const value = rendezvous({
        waiting: Array.from({ length: 2_000 }, (_, i) => ({
          runId: `run_${String(i).padStart(26, 'a')}`,
          waitId,
        })),
        early: Array.from({ length: 100 }, (_, i) => ({
          eventId: `e.${'f'.repeat(64)}${i}`,
          dataText: JSON.stringify('"'.repeat(2_620)),
          at: T0,
          expiresAt: T0 + 1,
          takenIn: [],
        })),
        delivered: Array.from({ length: 100 }, (_, i) => ({
          eventId: `e.${'f'.repeat(64)}${i}`,
          at: T0,
          takenIn: Array.from({ length: 20 }, (_, j) => `run_${String(j).padStart(26, 'b')}`),
        })),
      });
      const version = await written(value);
      expect(await store.read(PLACE)).toEqual({ rendezvous: value, version });
    });
  });
}
