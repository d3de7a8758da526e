import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { genesisHash, sha256Hex } from '../../../packages/cairn/src/core/encoding/hash.ts';
import { canonicalJson, type Json } from '../../../packages/cairn/src/core/encoding/json.ts';
import { emptyChain, seal, verifyChain } from '../../../packages/cairn/src/core/run/chain.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { CREATED, RUN_ID, T0 } from './journal-drafts.ts';
import { journals } from './random-journal.ts';

describe('a sealed journal', () => {
  test('passes verifyChain', () => {
    fc.assert(
      fc.property(journals(), ({ events }) => {
        expect(verifyChain(RUN_ID, events)).toBeUndefined();
        expect(events[0]?.prevHash).toBe(genesisHash(RUN_ID));
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
      }),
      { numRuns: 50 },
    );
  });

  test('has the hashes the design defines: sha256 of prevHash and the canonical JSON of the rest', () => {
    fc.assert(
      fc.property(journals(), ({ events }) => {
        for (const { hash, prevHash, ...rest } of events) {
          expect(hash).toBe(sha256Hex(prevHash + canonicalJson(rest as unknown as Json)));
        }
      }),
      { numRuns: 50 },
    );
  });

  test('has times that never decrease, whatever the clocks of its writers show', () => {
    fc.assert(
      fc.property(journals(), ({ events }) => {
        events.slice(1).forEach((event, i) => {
          expect(event.at).toBeGreaterThanOrEqual(events[i]?.at ?? 0);
        });
      }),
      { numRuns: 50 },
    );
  });

  test('is unchanged by a round trip through JSON', () => {
    fc.assert(
      fc.property(journals(), ({ events }) => {
        expect(verifyChain(RUN_ID, JSON.parse(JSON.stringify(events)))).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });

  test('differs from that of another run', () => {
    fc.assert(
      fc.property(journals(), ({ events }) => {
        expect(verifyChain('run_other', events)).toMatchObject({ seq: 1 });
      }),
      { numRuns: 5 },
    );
  });

  test('gives equal events for equal drafts, and other hashes for other ids', () => {
    const at = { chain: emptyChain(RUN_ID), now: T0 };
    expect(seal(CREATED, { ...at, id: 'a' })).toEqual(seal(CREATED, { ...at, id: 'a' }));
    expect(seal(CREATED, { ...at, id: 'a' }).hash).not.toBe(seal(CREATED, { ...at, id: 'b' }).hash);
  });
});

describe('verifyChain finds', () => {
  /** A journal and one of its places. */
  const cases = journals().chain(({ events }) =>
    fc.record({
      events: fc.constant(events),
      index: fc.nat(events.length - 1),
      other: fc.nat(events.length - 1),
    }),
  );

  test('any change of any member of any event, at that event', () => {
    fc.assert(
      fc.property(cases, fc.nat(), ({ events, index }, pick) => {
        const event = events[index];
        if (!event) throw new Error('no event');
        const members = Object.keys(event) as (keyof RunEvent)[];
        const member = members[pick % members.length] ?? 'id';
        const changed = { ...event, [member]: differentFrom(event[member]) } as RunEvent;
        const found = verifyChain(RUN_ID, events.with(index, changed));
        expect(found).toBeDefined();
        if (member !== 'seq') expect(found?.seq).toBe(event.seq);
      }),
      { numRuns: 200 },
    );
  });

  test('a removed member and an added one', () => {
    fc.assert(
      fc.property(cases, ({ events, index }) => {
        const { initiator: _, ...without } = events[index] as RunEvent;
        expect(verifyChain(RUN_ID, events.with(index, without as RunEvent))).toBeDefined();
        const more = { ...events[index], actor: 'somebody else' } as RunEvent;
        expect(verifyChain(RUN_ID, events.with(index, more))).toBeDefined();
      }),
      { numRuns: 50 },
    );
  });

  test('two swapped events', () => {
    fc.assert(
      fc.property(cases, ({ events, index, other }) => {
        fc.pre(index !== other);
        const one = events[index] as RunEvent;
        const two = events[other] as RunEvent;
        expect(verifyChain(RUN_ID, events.with(index, two).with(other, one))).toBeDefined();
        // Detected even with corrected numbers.
        const renumbered = events.with(index, { ...two, seq: one.seq }).with(other, { ...one, seq: two.seq });
        expect(verifyChain(RUN_ID, renumbered)).toBeDefined();
      }),
      { numRuns: 100 },
    );
  });

  test('a missing event and a repeated one', () => {
    fc.assert(
      fc.property(cases, ({ events, index }) => {
        // A missing end of the journal is detected only with a known head.
        if (index < events.length - 1) expect(verifyChain(RUN_ID, events.toSpliced(index, 1))).toBeDefined();
        expect(verifyChain(RUN_ID, events.toSpliced(index, 0, events[index] as RunEvent))).toBeDefined();
      }),
      { numRuns: 100 },
    );
  });
});

function differentFrom(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}x`;
  return { ...(value as object), more: 1 };
}
