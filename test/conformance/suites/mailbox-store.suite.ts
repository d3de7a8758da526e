/** Contract of event mailbox stores. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Mailbox, MailboxAddress } from '../../../packages/cairn/src/core/mailbox/mailbox.ts';
import type { MailboxStore } from '../../../packages/cairn/src/ports/mailbox-store.ts';
import type { Harness } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

const PLACE: MailboxAddress = { tenantId: 'acme', event: 'ci finished', key: 'refs/heads/main' };

function mailbox(changes: Partial<Mailbox> = {}): Mailbox {
  return {
    ...PLACE,
    waiting: [{ runId: 'run_1', waitId: 'ci.1' }],
    buffered: [
      {
        eventId: 'e.1',
        dataText: '{"quoted":"\\"\\\\","ümlaut":"🪨","nested":[[1],[2]]}',
        at: T0,
        expiresAt: T0 + 5,
        deliveredTo: [],
      },
      {
        eventId: 'e.2',
        dataText: 'null',
        actor: 'c.ci',
        at: T0,
        expiresAt: T0 + 5,
        takenBy: { runId: 'run_2', waitId: 'ci.3' },
        passing: 'giver',
        deliveredTo: ['run_3'],
      },
    ],
    delivered: [{ eventId: 'e.0', at: T0, deliveredTo: ['run_4', 'run_5'] }],
    ...changes,
  };
}

const BARE = mailbox({ waiting: [], buffered: [], delivered: [] });

export function mailboxStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let store: MailboxStore;
    beforeEach(async () => {
      store = (await harness.make()).mailboxes;
    });
    afterAll(() => harness.close());

    async function written(value: Mailbox, seen?: string): Promise<string> {
      expect(await store.write(value, value, seen)).toEqual({ kind: 'written' });
      const stored = await store.read(value);
      if (!stored) throw new Error('it is not there');
      return stored.version;
    }

    test('an unused mailbox is missing', async () => {
      expect(await store.read(PLACE)).toBeUndefined();
    });

    test.each([
      ['full', mailbox()],
      ['bare', BARE],
      ['with a time to go', mailbox({ waiting: [], expiresAt: T0 + 7 })],
    ])('what is %s reads back unchanged', async (_, value) => {
      const version = await written(value);
      expect(await store.read(PLACE)).toEqual({ mailbox: value, version });
    });

    test('a replacement keeps nothing of the earlier mailbox', async () => {
      const first = await written(mailbox({ waiting: [], expiresAt: T0 + 7 }));
      const second = await written(BARE, first);
      expect(second).not.toBe(first);
      expect(await store.read(PLACE)).toEqual({ mailbox: BARE, version: second });
    });

    test.each([
      ['tenant', { tenantId: 'acme2' }],
      ['event', { event: 'ci' }],
      ['key', { key: '' }],
      ['border between them', { event: 'ci finished/refs', key: 'heads/main' }],
      ['tenant that looks like the rest', { tenantId: 'acme/ci finished', event: 'refs', key: 'heads/main' }],
    ])('a different %s is a different mailbox', async (_, change) => {
      await written(mailbox());
      expect(await store.read({ ...PLACE, ...change })).toBeUndefined();
    });

    test('a write after a concurrent one changes nothing', async () => {
      const version = await written(mailbox());
      expect(await store.write(PLACE, BARE, undefined)).toEqual({ kind: 'stale' });
      const newer = await written(mailbox({ waiting: [] }), version);
      expect(await store.write(PLACE, BARE, version)).toEqual({ kind: 'stale' });
      expect(await store.write(PLACE, undefined, version)).toEqual({ kind: 'stale' });
      expect(await store.read(PLACE)).toEqual({ mailbox: mailbox({ waiting: [] }), version: newer });
    });

    test('a write over a deleted mailbox is stale, and a creation succeeds', async () => {
      const version = await written(mailbox());
      expect(await store.write(PLACE, undefined, version)).toEqual({ kind: 'written' });
      expect(await store.read(PLACE)).toBeUndefined();
      expect(await store.write(PLACE, BARE, version)).toEqual({ kind: 'stale' });
      expect(await store.write(PLACE, undefined, version)).toEqual({ kind: 'stale' });
      expect(await written(BARE)).not.toBe(version);
    });

    test('exactly one of many concurrent writes succeeds, the first and each later one', async () => {
      const race = async (seen?: string) => {
        const values = Array.from({ length: 10 }, (_, i) =>
          mailbox({ waiting: [{ runId: `run_${i}`, waitId: `after ${seen}` }] }),
        );
        const results = await Promise.all(values.map((value) => store.write(PLACE, value, seen)));
        const winners = values.filter((_, i) => results[i]?.kind === 'written');
        expect(winners).toHaveLength(1);
        const stored = await store.read(PLACE);
        expect(stored?.mailbox).toEqual(winners[0]);
        return stored?.version;
      };
      await race(await race());
    });

    test('holds as many waits and as much data as the engine allows', async () => {
      const waitId = `${'s'.repeat(100)}.100`;
      const value = mailbox({
        waiting: Array.from({ length: 2_000 }, (_, i) => ({
          runId: `run_${String(i).padStart(26, 'a')}`,
          waitId,
        })),
        buffered: Array.from({ length: 100 }, (_, i) => ({
          eventId: `e.${'f'.repeat(64)}${i}`,
          dataText: JSON.stringify('"'.repeat(2_620)),
          at: T0,
          expiresAt: T0 + 1,
          deliveredTo: [],
        })),
        delivered: Array.from({ length: 100 }, (_, i) => ({
          eventId: `e.${'f'.repeat(64)}${i}`,
          at: T0,
          deliveredTo: Array.from({ length: 20 }, (_, j) => `run_${String(j).padStart(26, 'b')}`),
        })),
      });
      const version = await written(value);
      expect(await store.read(PLACE)).toEqual({ mailbox: value, version });
    });
  });
}
