/**
 * Watches lists of runs with Firestore's listeners, each on the query of its list. Billed: a read for each run in the first
 * result (at least one), then one for each change; lists of more than {@link FIRST_RUNS} runs cost {@link FIRST_RUNS} more.
 *
 * The query of a listener cannot be a projection, and the client keeps each of its documents whole. If the documents of a list
 * are too large for that, the list is read by its projection every few seconds instead, billed as any list.
 */
import type { DocumentData, Firestore, QueryDocumentSnapshot } from '@google-cloud/firestore';
import { weightOf } from '../../core/encoding/weight.ts';
import { MAX_PAGE_BYTES } from '../../core/search/page.ts';
import { hasTag } from '../../core/search/tags.ts';
import { type Clock, pause } from '../../ports/clock.ts';
import type { ListedRun, RunFilter } from '../../ports/run-store.ts';
import type { RunListObserver, RunListWatch } from '../../ports/runs/run-list-watch.ts';
import { ifDecodable } from '../../ports/store-errors.ts';
import { decodeListed, isMarkedToGo } from '../codec/snapshot.ts';
import { matchingRunsQuery, RunLists } from '../lists/run-lists.ts';
import { Paths } from '../paths.ts';
import { versionOf } from '../version.ts';

/** Number of documents of the first listener. Their size shows whether all requested documents fit into memory. */
const FIRST_RUNS = 10;
/** Maximum bytes of the documents of one watch, as of a page: forty streams of an instance of 1 GiB hold 160 MiB. */
const MAX_WATCHED_BYTES = MAX_PAGE_BYTES;
/** Interval between two reads of a list that is too large for a listener, ms. */
export const POLL_MS = 5_000;

export class FirestoreRunListWatch implements RunListWatch {
  readonly #paths: Paths;
  readonly #clock: Clock;

  constructor(db: Firestore, clock: Clock, prefix?: string) {
    this.#paths = new Paths(db, prefix);
    this.#clock = clock;
  }

  watchRuns(filter: RunFilter, limit: number, observer: RunListObserver): () => void {
    const watch = new Watch({ paths: this.#paths, clock: this.#clock, filter, limit, observer });
    return () => watch.end();
  }
}

interface WatchedList {
  readonly paths: Paths;
  readonly clock: Clock;
  readonly filter: RunFilter;
  readonly limit: number;
  readonly observer: RunListObserver;
}

/** A decoded run; undefined if the run is hidden, or damaged: the list by pages names those. */
interface Decoded {
  readonly version: string;
  readonly bytes: number;
  readonly run: ListedRun | undefined;
}

class Watch {
  readonly #of: WatchedList;
  /** Ends the current source of the list. */
  #stop = () => {};
  #hasEnded = false;

  constructor(of: WatchedList) {
    this.#of = of;
    this.#listen(Math.min(of.limit, FIRST_RUNS));
  }

  end(): void {
    this.#hasEnded = true;
    this.#stop();
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.end();
    this.#of.observer.onError(error);
  }

  /** Listens to the newest `count` runs: first to some of the wanted ones, then to all. */
  #listen(count: number): void {
    const { paths, filter, limit, observer } = this.#of;
    let known: ReadonlyMap<string, Decoded> = new Map();
    let isCurrent = true;
    const stop = matchingRunsQuery(paths, filter)
      .limit(count)
      .onSnapshot(
        ({ docs }) => {
          if (!isCurrent) return;
          try {
            // Only changed documents are decoded again, because a run may have thousands of steps.
            known = new Map(docs.map((found) => [found.id, decoded(found, known.get(found.id))]));
          } catch (error) {
            this.#fail(error);
            return;
          }
          const runs = [...known.values()];
          const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
          const isPart = count < limit && docs.length === count;
          const expected = isPart ? (bytes / count) * limit : bytes;
          if (expected > MAX_WATCHED_BYTES) this.#poll();
          else if (isPart) this.#listen(limit);
          else
            observer.onRuns(
              runs.flatMap(({ run }) => (run && hasTag(run.state.tags, filter.tag) ? [run] : [])),
            );
        },
        (error) => {
          if (isCurrent) this.#fail(error);
        },
      );
    this.#setStop(() => {
      isCurrent = false;
      stop();
    });
  }

  #poll(): void {
    const ended = new AbortController();
    this.#setStop(() => ended.abort());
    this.#readAgainAndAgain(ended.signal).catch((error: unknown) => this.#fail(error));
  }

  async #readAgainAndAgain(ended: AbortSignal): Promise<void> {
    const { paths, clock, filter, limit, observer } = this.#of;
    const lists = new RunLists(paths);
    for (let reported = ''; ; ) {
      const { items } = await lists.listRuns(filter, { limit });
      if (ended.aborted) return;
      const text = JSON.stringify(items);
      if (text !== reported) observer.onRuns(items);
      reported = text;
      await pause(clock, POLL_MS, ended);
      if (ended.aborted) return;
    }
  }

  /** Replaces the previous listener of the list. */
  #setStop(stop: () => void): void {
    this.#stop();
    this.#stop = stop;
  }
}

function decoded(found: QueryDocumentSnapshot, before: Decoded | undefined): Decoded {
  const version = versionOf(found.updateTime);
  if (before?.version === version) return before;
  const document = found.data();
  const run = isMarkedToGo(document) ? undefined : readable(document, found.id);
  return { version, bytes: weightOf(document), run };
}

function readable(document: DocumentData, id: string): ListedRun | undefined {
  return ifDecodable(() => {
    const { waits, ...run } = decodeListed(document, `run ${id}`);
    return waits && { ...run, waits };
  });
}
