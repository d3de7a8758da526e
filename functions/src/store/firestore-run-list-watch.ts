/**
 * Watches lists of runs with Firestore's listeners, each on the query of its list. Billed: a read for each run that is
 * shown at first, then one for each change of one; at least one.
 */
import type { DocumentData, Firestore, QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { ListedRun, RunFilter } from '../ports/run-store.ts';
import type { RunListObserver, RunListWatch } from '../ports/runs/run-list-watch.ts';
import { UndecodableDocument } from '../ports/store-errors.ts';
import { decodeListed, isMarkedToGo } from './codec/snapshot.ts';
import { matchingRuns } from './lists/run-lists.ts';
import { Paths } from './paths.ts';
import { versionOf } from './version.ts';

/** A run as it was decoded; undefined for one that is hidden, or damaged: the list by pages names those. */
interface Decoded {
  readonly version: string;
  readonly run: ListedRun | undefined;
}

export class FirestoreRunListWatch implements RunListWatch {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  watchRuns(filter: RunFilter, limit: number, observer: RunListObserver): () => void {
    let known: ReadonlyMap<string, Decoded> = new Map();
    let hasStopped = false;
    const fail = (error: unknown) => {
      if (hasStopped) return;
      end();
      observer.onError(error);
    };
    const stop = matchingRuns(this.#paths, filter)
      .limit(limit)
      .onSnapshot(({ docs }) => {
        if (hasStopped) return;
        try {
          // Only what has changed is decoded anew: a run may have thousands of steps.
          known = new Map(docs.map((found) => [found.id, decoded(found, known.get(found.id))]));
        } catch (error) {
          fail(error);
          return;
        }
        observer.onRuns([...known.values()].flatMap(({ run }) => run ?? []));
      }, fail);
    const end = () => {
      hasStopped = true;
      stop();
    };
    return end;
  }
}

function decoded(found: QueryDocumentSnapshot, before: Decoded | undefined): Decoded {
  const version = versionOf(found.updateTime);
  if (before?.version === version) return before;
  const document = found.data();
  return { version, run: isMarkedToGo(document) ? undefined : readable(document, found.id) };
}

function readable(document: DocumentData, id: string): ListedRun | undefined {
  try {
    return decodeListed(document, `run ${id}`);
  } catch (error) {
    if (error instanceof UndecodableDocument) return undefined;
    throw error;
  }
}
