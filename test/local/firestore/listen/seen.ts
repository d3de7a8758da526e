/** Ordered record of a listener of the unmodified client, so that tests can wait for entries. */
import { setTimeout } from 'node:timers/promises';
import type { DocumentSnapshot, Query, QuerySnapshot, Timestamp } from '@google-cloud/firestore';
import type { FirestoreServer } from '../../../../packages/local-firestore/src/server.ts';

export interface Shown {
  /** Paths in the order of the query. */
  readonly paths: readonly string[];
  readonly data: readonly unknown[];
  readonly changes: readonly string[];
  readonly readTime: Timestamp;
}

const PATIENCE_MS = 120_000;

/** Snapshots in the order they came. */
export class Seen<T> {
  readonly all: T[] = [];
  error: Error | undefined;
  stop: () => void = () => {};
  readonly #waiting = new Set<() => void>();

  get last(): T | undefined {
    return this.all.at(-1);
  }

  push(one: T): void {
    this.all.push(one);
    for (const look of [...this.#waiting]) look();
  }

  fail(error: Error): void {
    this.error = error;
    for (const look of [...this.#waiting]) look();
  }

  /** Resolves once `holds` does; rejects when the listener has failed, or it takes too long. */
  until(holds: (all: readonly T[]) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = globalThis.setTimeout(
        () => done(new Error(`not seen: ${JSON.stringify(this.last)}`)),
        PATIENCE_MS,
      );
      const done = (error?: Error) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        if (error) reject(error);
        else resolve();
      };
      const look = () => {
        if (this.error) done(this.error);
        else if (holds(this.all)) done();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** The refusal that ended the listener. */
  async refusal(): Promise<Error> {
    const failed = await this.until(() => false).then(
      () => undefined,
      (error: Error) => error,
    );
    return failed as Error;
  }
}

const LOOK_MS = 5;

/** Resolves once every stream that listened has ended. @throws Error when that takes too long */
export async function nobodyListens(server: Pick<FirestoreServer, 'listening'>): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  while (server.listening() > 0) {
    if (Date.now() > until) throw new Error(`${server.listening()} streams still listen`);
    await setTimeout(LOOK_MS);
  }
}

export function listenTo(query: Query): Seen<Shown> {
  const seen = new Seen<Shown>();
  seen.stop = query.onSnapshot(
    (snapshot) => seen.push(shown(snapshot)),
    (error) => seen.fail(error),
  );
  return seen;
}

export interface ShownDocument {
  readonly data: unknown;
  readonly readTime: Timestamp;
}

export function listenToDocument(ref: {
  onSnapshot(next: (d: DocumentSnapshot) => void, fail: (e: Error) => void): () => void;
}): Seen<ShownDocument> {
  const seen = new Seen<ShownDocument>();
  seen.stop = ref.onSnapshot(
    (snapshot) => seen.push({ data: snapshot.data(), readTime: snapshot.readTime }),
    (error) => seen.fail(error),
  );
  return seen;
}

function shown(snapshot: QuerySnapshot): Shown {
  return {
    paths: snapshot.docs.map((d) => d.ref.path),
    data: snapshot.docs.map((d) => d.data()),
    changes: snapshot.docChanges().map((c) => `${c.type} ${c.doc.ref.path}`),
    readTime: snapshot.readTime,
  };
}
