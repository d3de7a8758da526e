/**
 * Sees when the runs of a crowd are completed, by asking the API. Asking costs the system under test time, so it is frugal, and
 * says how late it may notice.
 *
 * Must not: start runs.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { assertCompleted, type Client, isOver, LIMIT_MS } from './client.ts';

/** Between two lists: at the rates measured few runs end in that time. */
const LIST_EVERY_MS = 40;
const LIST_LIMIT = 60;

/** The clocks of two processes of one machine may differ by less. */
const CLOCKS_MS = 50;

/**
 * Waits for many runs at once with one list for all: of the completed runs that are no older than the oldest one waited for. A run so old
 * that it is no longer in the list is asked for by itself.
 */
export class CrowdWatch {
  readonly #client: Client;
  readonly #waiting = new Map<
    string,
    { readonly startedAt: number; readonly done: PromiseWithResolvers<number> }
  >();
  #looking = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Resolves with the ms since `startedAt` when the run is seen completed. */
  completed(runId: string, startedAt: number): Promise<number> {
    const done = Promise.withResolvers<number>();
    this.#waiting.set(runId, { startedAt, done });
    if (!this.#looking) {
      this.#looking = true;
      void this.#look();
    }
    return done.promise;
  }

  async #look(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        await delay(LIST_EVERY_MS);
        const runs = await this.#client.newestCompleted(LIST_LIMIT, this.#oldest() - CLOCKS_MS);
        for (const { id } of runs) this.#settle(id);
        await this.#lookAtOld(runs.length === LIST_LIMIT ? Date.parse(runs.at(-1)?.createdAt ?? '') : 0);
      }
    } catch (error) {
      for (const { done } of this.#waiting.values()) done.reject(error);
    } finally {
      this.#looking = false;
    }
  }

  /** Epoch ms. */
  #oldest(): number {
    const starts = [...this.#waiting.values()].map(({ startedAt }) => startedAt);
    return Math.floor(performance.timeOrigin + Math.min(...starts));
  }

  async #lookAtOld(listedFrom: number): Promise<void> {
    const now = performance.now();
    const age = Date.now() - listedFrom;
    for (const [runId, { startedAt }] of this.#waiting) {
      if (now - startedAt > LIMIT_MS) throw new Error(`run ${runId} is not completed after ${LIMIT_MS} ms`);
      if (now - startedAt < age) continue;
      const run = await this.#client.run(runId);
      if (!isOver(run)) continue;
      assertCompleted(run);
      this.#settle(runId);
    }
  }

  #settle(runId: string): void {
    const waiting = this.#waiting.get(runId);
    if (!waiting) return;
    this.#waiting.delete(runId);
    waiting.done.resolve(elapsed(waiting.startedAt));
  }
}

function elapsed(since: number): number {
  return performance.now() - since;
}
