/**
 * Watches journals, logs and the ends of runs with Firestore's listeners. A watch is one stream of the client. Billed: one read
 * for each event; for a log or an end, one for each snapshot that the run writes meanwhile.
 *
 * Must not: remember more than a window of events, which the client library keeps as long as its listener lives.
 */
import {
  type DocumentSnapshot,
  FieldPath,
  type Firestore,
  type QuerySnapshot,
} from '@google-cloud/firestore';
import { seqId } from '../../core/encoding/ids.ts';
import type { StopKind } from '../../core/run/events.ts';
import { isStoredAsTerminal } from '../../core/run/status.ts';
import type { EndObserver, LogObserver, RunObserver, RunWatch } from '../../ports/runs/run-watch.ts';
import { eventCodec } from '../codec/journal.ts';
import { loadedFrom } from '../loaded-run.ts';
import { pagesOf } from '../pages/spill.ts';
import { Paths } from '../paths.ts';

/** Maximum number of events of one listener; another one continues after the last event. */
const WINDOW = 300;

export class FirestoreRunWatch implements RunWatch {
  readonly #paths: Paths;
  readonly #window: number;

  /** @param window smaller in tests */
  constructor(db: Firestore, prefix?: string, window = WINDOW) {
    this.#paths = new Paths(db, prefix);
    this.#window = window;
  }

  watch(runId: string, afterSeq: number, observer: RunObserver): () => void {
    const ordered = this.#paths.events(this.#paths.run(runId)).orderBy(FieldPath.documentId());
    const listener = new SnapshotListener<QuerySnapshot>(observer);
    const listen = (after: number) => {
      const wanted = (after > 0 ? ordered.startAfter(seqId(after)) : ordered).limit(this.#window);
      listener.listen(
        (onSnapshot, fail) => wanted.onSnapshot(onSnapshot, fail),
        (snapshot) => {
          observer.onEvents(addedEvents(snapshot, runId));
          const last = snapshot.docs.at(-1);
          if (snapshot.size === this.#window && last && !listener.isOver) listen(Number(last.id));
        },
      );
    };
    listen(afterSeq);
    return listener.end;
  }

  /** Reads only the snapshot, because that of an ended run never lags (J4). */
  watchEnd(runId: string, observer: EndObserver): () => void {
    let hasFound = false;
    const end = this.#watchRun(
      runId,
      (snapshot) => {
        if (!hasFound) {
          hasFound = true;
          const isThere = snapshot.exists && snapshot.get('soft.deletionMarkedAt') === undefined;
          observer.onFound(isThere ? { tenantId: snapshot.get('tenantId') as string } : undefined);
        }
        if (!isStoredAsTerminal(snapshot.get('status'))) return;
        const members = snapshot.data();
        const run = members && !pagesOf(members) ? loadedFrom(snapshot, members) : undefined;
        end();
        observer.onEnd(run);
      },
      observer,
    );
    return end;
  }

  /** Reads lines after each snapshot, because one commit writes both. */
  watchLogs(runId: string, observer: LogObserver): () => void {
    let reported: unknown;
    const end = this.#watchRun(
      runId,
      (snapshot) => {
        const status: unknown = snapshot.get('status');
        if (isStoredAsTerminal(status)) {
          end();
          observer.onLogs({ status, stopKind: snapshot.get('stopKind') as StopKind | undefined });
          return;
        }
        const bytes: unknown = snapshot.get('soft.logs.bytes') ?? 0;
        if (bytes === reported) return;
        reported = bytes;
        observer.onLogs(undefined);
      },
      observer,
    );
    return end;
  }

  #watchRun(
    runId: string,
    onSnapshot: (snapshot: DocumentSnapshot) => void,
    observer: Pick<EndObserver, 'onError'>,
  ): () => void {
    const listener = new SnapshotListener<DocumentSnapshot>(observer);
    listener.listen((next, fail) => this.#paths.run(runId).onSnapshot(next, fail), onSnapshot);
    return listener.end;
  }
}

/**
 * One listener of Firestore at a time. Its handler of snapshots is not called after the end, and an error of the handler ends
 * the watch.
 */
class SnapshotListener<Snapshot> {
  readonly #observer: Pick<EndObserver, 'onError'>;
  #stop = () => {};
  #isOver = false;

  constructor(observer: Pick<EndObserver, 'onError'>) {
    this.#observer = observer;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Replaces the previous listener. */
  listen(
    subscribe: (next: (snapshot: Snapshot) => void, fail: (error: unknown) => void) => () => void,
    onSnapshot: (snapshot: Snapshot) => void,
  ): void {
    this.#stop();
    this.#stop = subscribe((snapshot) => {
      if (this.#isOver) return;
      try {
        onSnapshot(snapshot);
      } catch (error) {
        this.#fail(error);
      }
    }, this.#fail);
  }

  readonly end = (): void => {
    this.#isOver = true;
    this.#stop();
  };

  readonly #fail = (error: unknown): void => {
    if (this.#isOver) return;
    this.end();
    this.#observer.onError(error);
  };
}

/** Events never change, so any other change is the deletion of the run. */
function addedEvents(snapshot: QuerySnapshot, runId: string) {
  return snapshot
    .docChanges()
    .filter(({ type }) => type === 'added')
    .map(({ doc }) => eventCodec.decode(doc.data(), `event ${doc.id} of run ${runId}`));
}
