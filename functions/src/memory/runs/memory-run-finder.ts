/** Finds runs in memory. */
import type { RunState } from '../../core/run/state.ts';
import type { Page, PageRequest } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import type { MemoryDatabase } from '../memory-database.ts';
import { ascending, pageOf } from '../paging.ts';

export class MemoryRunFinder implements RunFinder {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async asking(tenantId: string, page: PageRequest): Promise<Page<RunState>> {
    const asking = [...this.#db.runs.values()].flatMap(({ snapshot: state, soft, askingSince: since }) =>
      state.tenantId === tenantId && since !== undefined ? [{ state, soft, since }] : [],
    );
    const { items, ...listed } = pageOf(asking, page, {
      list: 'inbox',
      positionOf: ({ since, state }) => [since, state.id],
      compare: ascending,
    });
    const there = items.filter(({ soft }) => soft.deletionMarkedAt === undefined);
    return { ...listed, items: there.map(({ state }) => state) };
  }
}
