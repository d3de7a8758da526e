/**
 * Sees when runs are completed, by asking the API. Asking costs the system under test time, so both ways are frugal,
 * and each says how late it may notice.
 *
 * Must not: start runs.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from './client.ts';

/** Longer than any run of the benchmark takes. */
const LIMIT_MS = 300_000;
const OVER = new Set(['completed', 'failed', 'cancelled']);

/**
 * The part of the expected time in which nobody looks: each look takes milliseconds of the very processes that move the
 * run. A run that is faster is seen late, never early, and the next one is then looked at sooner. Much closer to 1, a late
 * first look would confirm itself: 0.9 × 50 ms and a look of 5 ms make 50 ms.
 */
const BLIND_SHARE = 0.75;
/** The shortest of so many runs is what the next is expected to take. */
const RECENT_RUNS = 5;

/**
 * Waits for one run of a type after the other. Asks the list for the newest one, which reads a single document and is
 * never late about an end. Asks first when most of the shortest of the last times is over, then every 2 ms or 2 % of the
 * time passed, whichever is longer: it notices at most that and one answer late.
 */
export class Watch {
  readonly #client: Client;
  readonly #type: string;
  readonly #recentMs: number[];
  /** Questions asked so far. */
  looks = 0;

  /** `expectedMs`: what a run takes at least; without it the first is asked for from its start. */
  constructor(client: Client, type: string, expectedMs = 0) {
    this.#client = client;
    this.#type = type;
    this.#recentMs = [expectedMs];
  }

  /** Ms since `startedAt`. The run must be the newest of its type. @throws Error if it ends otherwise or too late */
  async completed(runId: string, startedAt: number): Promise<number> {
    await delay(Math.max(0, BLIND_SHARE * Math.min(...this.#recentMs) - elapsed(startedAt)));
    for (;;) {
      this.looks += 1;
      const run = await this.#client.newest(this.#type);
      const ms = elapsed(startedAt);
      if (run && run.id !== runId) throw new Error(`the newest ${this.#type} is ${run.id}, not ${runId}`);
      if (run && OVER.has(run.status)) {
        assertCompleted(runId, run.status);
        this.#recentMs.push(ms);
        if (this.#recentMs.length > RECENT_RUNS) this.#recentMs.shift();
        return ms;
      }
      if (ms > LIMIT_MS) throw new Error(`run ${runId} is not completed after ${LIMIT_MS} ms`);
      await delay(Math.max(2, 0.02 * ms));
    }
  }
}

/** Between two lists: at the rates measured few runs end in that time. */
const LIST_EVERY_MS = 40;
const LIST_LIMIT = 60;

/**
 * Waits for many runs at once with one list of the newest completed runs for all. A run so old that it is no longer in
 * the list is asked for by itself.
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
        const runs = await this.#client.completed(LIST_LIMIT);
        for (const { id } of runs) this.#settle(id);
        await this.#lookAtOld(runs.length === LIST_LIMIT ? Date.parse(runs.at(-1)?.createdAt ?? '') : 0);
      }
    } catch (error) {
      for (const { done } of this.#waiting.values()) done.reject(error);
    } finally {
      this.#looking = false;
    }
  }

  async #lookAtOld(listedFrom: number): Promise<void> {
    const now = performance.now();
    const age = Date.now() - listedFrom;
    for (const [runId, { startedAt }] of this.#waiting) {
      if (now - startedAt > LIMIT_MS) throw new Error(`run ${runId} is not completed after ${LIMIT_MS} ms`);
      if (now - startedAt < age) continue;
      const run = await this.#client.run(runId);
      if (!OVER.has(run.status)) continue;
      assertCompleted(runId, run.status);
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

function assertCompleted(runId: string, status: string): void {
  if (status !== 'completed') throw new Error(`run ${runId} ended as ${status}`);
}

function elapsed(since: number): number {
  return performance.now() - since;
}
