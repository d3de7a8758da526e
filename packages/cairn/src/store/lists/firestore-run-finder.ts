/** Finds runs in Firestore. Each query has its index in `firestore.indexes.json`. */
import { FieldPath, type Firestore, Timestamp } from '@google-cloud/firestore';
import type { RunState } from '../../core/run/state.ts';
import type { ListedRun, Page, PageRequest, RunFilter } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import { call } from '../call.ts';
import { decodeListed, decodeSnapshot, isMarkedToGo } from '../codec/snapshot.ts';
import { Paths } from '../paths.ts';
import { readPage } from './pages.ts';
import { matchingRuns, positionAt } from './run-lists.ts';

export class FirestoreRunFinder implements RunFinder {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  /** Only runs that have the member are in its index, so that a tenant whose runs ask nothing costs one read. */
  async asking(tenantId: string, request: PageRequest): Promise<Page<RunState>> {
    const { items, ...page } = await readPage(request, {
      list: 'inbox',
      ordered: this.#paths
        .runs()
        .where('tenantId', '==', tenantId)
        .orderBy('askingSince')
        .orderBy(FieldPath.documentId()),
      startAfter: ([at, id]) => [Timestamp.fromMillis(at), id],
      decode: (document, id) => ({
        run: decodeSnapshot(document, `run ${id}`),
        since: document.askingSince instanceof Timestamp ? document.askingSince.toMillis() : 0,
      }),
      positionOf: ({ since }, id) => [since, id],
      isHidden: isMarkedToGo,
      positionOfDamaged: ({ askingSince }, id) => positionAt(askingSince, id),
    });
    return { ...page, items: items.map(({ run }) => run) };
  }

  /** Billed one read for every thousand that are counted, and one at least. */
  async count(filter: RunFilter, most: number): Promise<number> {
    const matching = matchingRuns(this.#paths, filter).limit(most);
    const counted = await call('count of runs', () => matching.count().get());
    return counted.data().count;
  }

  async named(tenantId: string, name: string, most: number): Promise<readonly ListedRun[]> {
    const named = this.#paths
      .runs()
      .where('tenantId', '==', tenantId)
      .where('foundBy', 'array-contains', name)
      .orderBy('createdAt', 'desc')
      .orderBy(FieldPath.documentId(), 'desc')
      .limit(most);
    const { docs } = await call('search for runs', () => named.get());
    return docs
      .filter((found) => !isMarkedToGo(found.data()))
      .map((found) => decodeListed(found.data(), `run ${found.id}`));
  }
}
