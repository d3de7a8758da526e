/** Finds runs in Firestore. Each query has its index in `firestore.indexes.json`. */
import { FieldPath, type Firestore, type QueryDocumentSnapshot, Timestamp } from '@google-cloud/firestore';

import { isOver, type RunState } from '../../core/run/state.ts';
import type { ListedRun, Page, PageRequest, RunFilter } from '../../ports/run-store.ts';
import type { IndexedOrder, RunFinder } from '../../ports/runs/run-finder.ts';
import { ifDecodable, isOfDocument } from '../../ports/store-errors.ts';
import { call } from '../call.ts';
import type { Members } from '../codec/kinds.ts';
import {
  type DecodedListed,
  decodeListed,
  decodeSnapshot,
  isMarkedToGo,
  LISTED_NAMES,
} from '../codec/snapshot.ts';
import { ShardedStore } from '../firestore-store.ts';
import { RunPages } from '../pages/run-pages.ts';
import { orderedRuns } from './ordered-runs.ts';
import { readPage } from './pages.ts';
import { matchingRunsQuery, positionAt } from './run-lists.ts';
import type { Shards } from './shards.ts';
import { withWaits } from './waits.ts';

/** Sorts after every character of an id. */
const LAST_CHARACTER = '~';

export class FirestoreRunFinder extends ShardedStore implements RunFinder {
  readonly #pages: RunPages;

  constructor(db: Firestore, prefix?: string, shards?: Shards) {
    super(db, prefix, shards);
    this.#pages = new RunPages(db, this.paths);
  }

  ordered(order: IndexedOrder, filter: RunFilter, page: PageRequest): Promise<Page<ListedRun>> {
    return orderedRuns(this.paths, this.shards, { order, filter, page });
  }

  /** Only runs that have the member are in its index, so a tenant without open questions costs one read. */
  async asking(tenantId: string, request: PageRequest): Promise<Page<RunState>> {
    const {
      items,
      unreadable = [],
      ...page
    } = await readPage(request, {
      list: 'inbox',
      ordered: this.paths
        .runs()
        .where('tenantId', '==', tenantId)
        .orderBy('askingSince')
        .orderBy(FieldPath.documentId()),
      startAfter: ([at, id]) => [Timestamp.fromMillis(at), id],
      decode: (document, id) => ({
        id,
        document,
        run: decodeSnapshot(document, `run ${id}`),
        since: document.askingSince instanceof Timestamp ? document.askingSince.toMillis() : 0,
      }),
      positionOf: ({ since }, id) => [since, id],
      isHidden: isMarkedToGo,
      positionOfDamaged: ({ askingSince }, id) => positionAt(askingSince, id),
    });
    const runs: RunState[] = [];
    const damaged: string[] = [];
    // The open effects of an ended run may be in pages; the questions of other runs are in the document.
    for (const { id, document, run } of items) {
      const whole = isOver(run) ? await this.#withEffects(id, document) : run;
      if (whole) runs.push(whole);
      else damaged.push(id);
    }
    const ids = [...unreadable, ...damaged];
    return { ...page, items: runs, ...(ids.length > 0 ? { unreadable: ids } : {}) };
  }

  /** Undefined for a run whose pages are damaged. */
  async #withEffects(id: string, document: Members): Promise<RunState | undefined> {
    try {
      const whole = await this.#pages.list(this.paths.runs().doc(id), document, 'effects');
      return decodeSnapshot(whole, `run ${id}`);
    } catch (error) {
      if (isOfDocument(error)) return undefined;
      throw error;
    }
  }

  /** Billed one read per thousand counted runs, and at least one. */
  async count(filter: RunFilter, most: number): Promise<number> {
    const matching = matchingRunsQuery(this.paths, filter).limit(most);
    const counted = await call('count of runs', () => matching.count().get());
    return counted.data().count;
  }

  /** Searches by id alone, because every collection has this order without an index. */
  async beginning(tenantId: string, prefix: string, most: number): Promise<readonly ListedRun[]> {
    const beginning = this.paths
      .runs()
      .orderBy(FieldPath.documentId())
      .startAt(prefix)
      .endAt(`${prefix}${LAST_CHARACTER}`)
      .select(...LISTED_NAMES)
      .limit(most);
    const { docs } = await call('search for runs', () => beginning.get());
    const listed = docs
      .filter((found) => found.get('tenantId') === tenantId && !isMarkedToGo(found.data()))
      .flatMap(listedIfReadable);
    return (await withWaits(this.paths, listed)).runs;
  }

  async named(tenantId: string, name: string, most: number): Promise<readonly ListedRun[]> {
    const named = this.paths
      .runs()
      .where('tenantId', '==', tenantId)
      .where('foundBy', 'array-contains', name)
      .orderBy('createdAt', 'desc')
      .orderBy(FieldPath.documentId(), 'desc')
      .select(...LISTED_NAMES)
      .limit(most);
    const { docs } = await call('search for runs', () => named.get());
    const listed = docs.filter((found) => !isMarkedToGo(found.data())).flatMap(listedIfReadable);
    return (await withWaits(this.paths, listed)).runs;
  }
}

/** Skips a run that cannot be read, so that the others are found. */
function listedIfReadable(found: QueryDocumentSnapshot): readonly DecodedListed[] {
  return ifDecodable(() => [decodeListed(found.data(), `run ${found.id}`)]) ?? [];
}
