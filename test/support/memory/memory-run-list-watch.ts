/** Watches lists of a memory store. Reports writes asynchronously, like a store across a network. */

import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type { RunFilter, RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { RunListObserver, RunListWatch } from '../../../packages/cairn/src/ports/runs/run-list-watch.ts';

export class MemoryRunListWatch implements RunListWatch {
  readonly #db: MemoryDatabase;
  readonly #store: Pick<RunStore, 'listRuns'>;

  constructor(db: MemoryDatabase, store: Pick<RunStore, 'listRuns'>) {
    this.#db = db;
    this.#store = store;
  }

  watchRuns(filter: RunFilter, limit: number, observer: RunListObserver): () => void {
    let hasStopped = false;
    let isDue = false;
    const stop = () => {
      hasStopped = true;
      leave();
    };
    const look = async () => {
      isDue = false;
      const { items } = await this.#store.listRuns(filter, { limit });
      if (!hasStopped) observer.onRuns(items);
    };
    const fail = (error: unknown) => {
      if (hasStopped) return;
      stop();
      observer.onError(error);
    };
    let looking = Promise.resolve();
    // Writes of one commit are reported together, after the commit.
    const lookSoon = () => {
      if (isDue) return;
      isDue = true;
      looking = looking.then(look).catch(fail);
    };
    const leave = this.#db.onChange(lookSoon);
    lookSoon();
    return stop;
  }
}
