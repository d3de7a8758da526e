/** Contract of run stores: the size of a page in bytes. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { weightOf } from '../../../packages/cairn/src/core/encoding/weight.ts';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import { MAX_PAGE_BYTES } from '../../../packages/cairn/src/core/search/page.ts';
import type { Page, PageRequest, RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { bySystem, opened, questionOf } from '../../core/run/journal-drafts.ts';
import type { Stores } from '../support/harness.ts';
import { beginning, claim, move, succeeded, T0 } from '../support/run-fixture.ts';
import { claimed, LEASE_MS } from './runs.ts';

const LARGE = 240 * 1024;
/** More than one page, and fewer than two. */
const COUNT = 25;
const AT_A_TIME = 5;

export function pageClaims(current: () => Stores): void {
  let runs: RunStore;
  beforeEach(() => {
    ({ runs } = current());
  });

  /** A run whose journal has an entry of each draft. */
  async function journal(draftOf: (i: number) => EventDraft): Promise<void> {
    let state = await claimed(runs, 'run_1');
    for (let i = 0; i < COUNT; i += AT_A_TIME) {
      const drafts = Array.from({ length: AT_A_TIME }, (_, j) => draftOf(i + j));
      const { after, commit } = move(state, drafts);
      expect(await runs.commit(commit)).toMatchObject({ kind: 'committed' });
      state = after;
    }
  }

  const question = (i: number) => questionOf('gate', { id: `gate.${i}`, openedAt: T0, detailText: long() });

  describe('a page of large items is shorter than its limit, and the next continues', () => {
    test('of checkpoints', async () => {
      await journal((i) => succeeded(`s${i}`, { outputText: long() }));
      await expectBounded((page) => runs.listCheckpoints('run_1', page), COUNT);
      expect(await counted((page) => runs.listSteps('run_1', page))).toEqual([COUNT]);
    });

    test('of events', async () => {
      await journal((i) => opened(question(i)));
      await expectBounded((page) => runs.listEvents('run_1', page), COUNT);
    });

    test('but not of runs, which are listed without most of their questions', async () => {
      for (let i = 0; i < COUNT; i += 1) {
        const begun = beginning(`run_${i}`, { at: T0 + i, identity: { tenantId: 'acme' } });
        await runs.start(begun);
        const suspended = bySystem('run_suspended', { status: 'awaiting_approval', announced: true });
        const drafts = [...claim(begun.state, T0 + LEASE_MS), opened(question(i)), suspended];
        await runs.commit(move(begun.state, drafts, { snapshot: true }).commit);
      }
      const { items, next } = await runs.listRuns({ tenantId: 'acme' }, { limit: COUNT });
      expect([items.length, next]).toEqual([COUNT, undefined]);
      expect(weightOf(items)).toBeLessThan(COUNT * 4 * 1024);
    });
  });

  test('a page of small items has the requested number', async () => {
    await journal((i) => succeeded(`s${i}`));
    const listed = await counted((page) => runs.listCheckpoints('run_1', page), 24);
    expect(listed[0]).toBe(24);
    const all = await counted((page) => runs.listEvents('run_1', page));
    expect(all).toHaveLength(1);
  });
}

function long(): string {
  return JSON.stringify({ text: 'x'.repeat(LARGE) });
}

/** @param least least number of items */
async function expectBounded<T>(read: (page: PageRequest) => Promise<Page<T>>, least: number): Promise<void> {
  const pages = await walked(read);
  expect(pages.length).toBeGreaterThan(1);
  for (const { items } of pages) {
    expect(items.length).toBeGreaterThan(0);
    expect(items.reduce((sum, item) => sum + weightOf(item), 0)).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  }
  const items = pages.flatMap((page) => page.items);
  expect(items.length).toBeGreaterThanOrEqual(least);
  expect(new Set(items.map((item) => JSON.stringify(item))).size).toBe(items.length);
  // No page is shorter than it must be.
  expect(pages.length).toBeLessThanOrEqual(Math.ceil(weightOf(items) / (MAX_PAGE_BYTES - 2 * LARGE)));
}

async function counted<T>(read: (page: PageRequest) => Promise<Page<T>>, limit = 100): Promise<number[]> {
  return (await walked(read, limit)).map(({ items }) => items.length);
}

async function walked<T>(read: (page: PageRequest) => Promise<Page<T>>, limit = 100): Promise<Page<T>[]> {
  const pages: Page<T>[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await read({ limit, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(page);
    cursor = page.next;
    if (cursor === undefined) return pages;
    expect(pages.length).toBeLessThan(COUNT);
  }
}
