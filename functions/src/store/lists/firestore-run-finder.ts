/** Finds runs in Firestore. Each query has its index in `firestore.indexes.json`. */
import { FieldPath, type Firestore, Timestamp } from '@google-cloud/firestore';
import type { RunState } from '../../core/run/state.ts';
import type { Page, PageRequest } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import { decodeSnapshot, isMarkedToGo } from '../codec/snapshot.ts';
import { Paths } from '../paths.ts';
import { readPage } from './pages.ts';

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
    });
    return { ...page, items: items.map(({ run }) => run) };
  }
}
