import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Janitor } from '../../functions/src/workflows/nightly-cleanup/janitor.ts';
import { reportOf, shortcomings } from '../../functions/src/workflows/nightly-cleanup/report.ts';
import {
  type CleanupItem,
  CleanupRequest,
  staleItems,
} from '../../functions/src/workflows/nightly-cleanup/request.ts';
import { nightlyCleanupBy } from '../../functions/src/workflows/nightly-cleanup/workflow.ts';
import { createTestRuntime, expectJournal } from '../../packages/cairn/src/testing/index.ts';

const AS_OF = '2026-03-01T03:00:00Z';

const old = (id: string, more: object = {}) => ({
  id,
  kind: 'branch',
  lastUsedAt: '2025-12-01T00:00:00Z',
  ...more,
});

/** Things that lie about, in memory. */
class PretendedStore implements Janitor {
  readonly there: Set<string>;
  readonly removed: string[] = [];
  /** Cannot be removed. */
  readonly stuck = new Set<string>();
  /** Says that it removes, and does not. */
  readonly false = new Set<string>();

  constructor(ids: readonly string[]) {
    this.there = new Set(ids);
  }

  async list(): Promise<readonly CleanupItem[]> {
    return [...this.there].map((id) => ({ ...old(id), isProtected: id.startsWith('protected') }));
  }

  async remove({ id }: { id: string }): Promise<void> {
    if (this.stuck.has(id)) throw new Error(`${id} is in use`);
    this.removed.push(id);
    if (!this.false.has(id)) this.there.delete(id);
  }

  async exists({ id }: { id: string }): Promise<boolean> {
    return this.there.has(id);
  }
}

function cleaning(items: readonly { readonly id: string }[], more: object = {}) {
  const store = new PretendedStore(items.map(({ id }) => id));
  const runtime = createTestRuntime({ workflows: [nightlyCleanupBy(store)], now: AS_OF });
  return { store, runtime, start: () => runtime.start('nightly-cleanup', { items, asOf: AS_OF, ...more }) };
}

describe('a cleanup', () => {
  test('removes stale items, and checks after a while whether they are gone', async () => {
    const items = [old('a'), old('b', { isProtected: true }), old('c', { lastUsedAt: AS_OF }), old('d')];
    const { store, runtime, start } = cleaning(items);
    const run = await start();
    await runtime.settle();
    expect(store.removed).toEqual(['a', 'd']);
    expect(run.waits()).toMatchObject([{ step: 'settle', kind: 'timer' }]);
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({
      report: { stale: 2, removed: ['a', 'd'], failed: [], stillThere: [] },
    });
    expect([...store.there]).toEqual(['b', 'c']);
    expectJournal(run.journal()).toHaveSkipped('confirm').toHaveRun('report', 1);
  });

  test('without stale items is completed at once', async () => {
    const { runtime, start } = cleaning([old('a', { lastUsedAt: AS_OF })]);
    const run = await start();
    await runtime.settle();
    expect(run.status()).toBe('completed');
    expectJournal(run.journal()).toHaveSkipped('settle');
    expect(await run.result()).toMatchObject({ report: { stale: 0 } });
  });

  test('tolerates items that cannot be removed or reappear, and is degraded by them', async () => {
    const { store, runtime, start } = cleaning(Array.from({ length: 10 }, (_, i) => old(`item-${i}`)));
    store.stuck.add('item-3');
    store.false.add('item-5');
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toMatchObject({
      report: { stale: 10, failed: ['item-3'], stillThere: ['item-5'] },
    });
    expectJournal(run.journal()).toHaveDegraded('report').toHaveFailed('remove[3]');
    expect(run.calls('remove[3]')).toBe(4);
  });

  test('in which more than a fifth cannot be removed fails', async () => {
    const { store, runtime, start } = cleaning(Array.from({ length: 10 }, (_, i) => old(`item-${i}`)));
    for (const i of [1, 2, 3]) store.stuck.add(`item-${i}`);
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('failed');
    expectJournal(run.journal()).toHaveFailed('remove').notToHaveRun('report');
  });

  test('whose worker dies during the removals continues with the rest', async () => {
    const { store, runtime, start } = cleaning(Array.from({ length: 20 }, (_, i) => old(`item-${i}`)));
    runtime.crashAfter('remove[9]');
    const run = await start();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(store.there.size).toBe(0);
    expect(run.calls('remove[9]')).toBe(2);
    expect(run.calls('remove[0]')).toBe(1);
    expectJournal(run.journal()).toHave('orphan_detected', 1);
  });
});

test('asks the janitor for candidates every night, and counts their ages from that night', async () => {
  const store = new PretendedStore(['a', 'protected-b', 'c']);
  const workflow = nightlyCleanupBy(store);
  expect(workflow.schedules).toMatchObject([{ id: 'nightly-cleanup', cron: '0 3 * * *', input: {} }]);
  const runtime = createTestRuntime({ workflows: [workflow], now: AS_OF });
  const early = await runtime.start('nightly-cleanup', { slot: '2025-12-02T03:00:00Z' });
  expect(await runtime.runToEnd(early)).toBe('completed');
  expect(store.removed).toEqual([]);
  const run = await runtime.start('nightly-cleanup', { slot: AS_OF });
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(store.removed).toEqual(['a', 'c']);
});

describe('an unusually large cleanup', () => {
  const many = Array.from({ length: 5 }, (_, i) => old(`item-${i}`));

  test('asks for approval first', async () => {
    const { store, runtime, start } = cleaning(many, { confirmAbove: 4 });
    const run = await start();
    await runtime.settle();
    expect(run.waits()).toMatchObject([{ step: 'confirm', question: 'Remove 5 of 5?' }]);
    expect(store.removed).toEqual([]);
    await runtime.decide(run, 'approve');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(store.there.size).toBe(0);
  });

  test('that nobody confirms is halted, and removes nothing', async () => {
    const { store, runtime, start } = cleaning(many, { confirmAbove: 4 });
    const run = await start();
    await runtime.advance('12h');
    expect(run.status()).toBe('cancelled');
    expect(run.state().stopKind).toBe('halt');
    expect(store.removed).toEqual([]);
  });

  test('that is refused fails, and removes nothing', async () => {
    const { store, runtime, start } = cleaning(many, { confirmAbove: 4 });
    const run = await start();
    await runtime.settle();
    await runtime.decide(run, 'reject');
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(store.removed).toEqual([]);
  });
});

describe('the decision whether an item is stale', () => {
  test.each([
    ['just not', '2026-01-30T03:00:00Z', 0],
    ['just', '2026-01-30T02:59:59Z', 1],
    ['in another time zone', '2026-01-30T03:59:59+01:00', 1],
  ])('%s', (_name, lastUsedAt, count) => {
    const request = CleanupRequest.parse({ items: [old('a', { lastUsedAt })], asOf: AS_OF });
    expect(staleItems(request)).toHaveLength(count);
  });

  test.each([
    ['no time to count from', { items: [] }],
    ['no time', { items: [], asOf: 'tonight' }],
    ['no duration', { items: [], asOf: AS_OF, olderThan: 'long' }],
    ['too many items', { items: Array.from({ length: 1_001 }, (_, i) => old(`${i}`)), asOf: AS_OF }],
  ])('is not possible with %s', (_name, request) => {
    expect(CleanupRequest.safeParse(request).success).toBe(false);
  });
});

test('a report counts every item once', () => {
  const outcome = fc.record({
    removed: fc.boolean(),
    left: fc.option(fc.boolean(), { nil: null }),
  });
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 20 }), (outcomes) => {
      const { items: stale = [] } = CleanupRequest.parse({
        items: outcomes.map((_, i) => old(`${i}`)),
        asOf: AS_OF,
      });
      const removed = outcomes.map((each, i) => (each.removed ? `${i}` : null));
      const report = reportOf({ stale, removed, left: outcomes.map(({ left }) => left) });
      const all = [...report.removed, ...report.failed, ...report.stillThere];
      expect(all.map(Number).sort((a, b) => a - b)).toEqual(outcomes.map((_, i) => i));
      expect(report.stale).toBe(outcomes.length);
      expect(shortcomings(report) === undefined).toBe(report.removed.length === outcomes.length);
    }),
  );
});
