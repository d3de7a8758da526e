/** Finds runs in memory. */
import type { RunState } from '../core/run/state.ts';
import { placeIn } from '../core/search/order.ts';
import type { ListedRun, Page, PageRequest, RunFilter } from '../ports/run-store.ts';
import type { IndexedOrder, RunFinder } from '../ports/runs/run-finder.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { isAmong, listedRun, matches } from './memory-run-store.ts';
import { ascending, descending, sortedPage } from './paging.ts';

export class MemoryRunFinder implements RunFinder {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async ordered(order: IndexedOrder, filter: RunFilter, page: PageRequest): Promise<Page<ListedRun>> {
    const runs = [...this.#db.runs.values()].filter(
      ({ snapshot }) =>
        matches(snapshot, filter) && (order === 'updated' || snapshot.durationMs !== undefined),
    );
    const { items, ...listed } = sortedPage(runs.map(listedRun), page, {
      list: order,
      positionOf: ({ state }) => placeIn(order, state, 0),
      compare: descending,
    });
    const there = items.filter(
      ({ state }) => this.#db.runs.get(state.id)?.metadata.deletionMarkedAt === undefined,
    );
    return { ...listed, items: there };
  }

  async asking(tenantId: string, page: PageRequest): Promise<Page<RunState>> {
    const asking = [...this.#db.runs.values()].flatMap(({ snapshot: state, metadata, askingSince: since }) =>
      state.tenantId === tenantId && since !== undefined ? [{ state, metadata, since }] : [],
    );
    const { items, ...listed } = sortedPage(asking, page, {
      list: 'inbox',
      positionOf: ({ since, state }) => [since, state.id],
      compare: ascending,
    });
    const there = items.filter(({ metadata }) => metadata.deletionMarkedAt === undefined);
    return { ...listed, items: there.map(({ state }) => state) };
  }

  async count(filter: RunFilter, most: number): Promise<number> {
    const matching = [...this.#db.runs.values()].filter(
      (run) => isAmong(run, filter) && matches(run.snapshot, filter),
    );
    return Math.min(matching.length, most);
  }

  async beginning(tenantId: string, prefix: string, most: number): Promise<readonly ListedRun[]> {
    return [...this.#db.runs.values()]
      .filter(({ snapshot }) => snapshot.id.startsWith(prefix))
      .sort(({ snapshot: a }, { snapshot: b }) => ascending([0, a.id], [0, b.id]))
      .slice(0, most)
      .filter(
        ({ snapshot, metadata }) => snapshot.tenantId === tenantId && metadata.deletionMarkedAt === undefined,
      )
      .map(listedRun);
  }

  async named(tenantId: string, name: string, most: number): Promise<readonly ListedRun[]> {
    return [...this.#db.runs.values()]
      .filter(({ snapshot, foundBy }) => snapshot.tenantId === tenantId && foundBy.includes(name))
      .sort(({ snapshot: a }, { snapshot: b }) => descending([a.createdAt, a.id], [b.createdAt, b.id]))
      .slice(0, most)
      .filter(({ metadata }) => metadata.deletionMarkedAt === undefined)
      .map(listedRun);
  }
}
