/** A write batch as the stores use it, and the channel that sends its commit. */
import type { Firestore, Timestamp, WriteBatch } from '@google-cloud/firestore';
import type { Members } from '../codec/kinds.ts';

export type CommitPrecondition = { readonly lastUpdateTime?: Timestamp };

/** Documents are given by their path in the database, because a reference of the client library consists of a dozen objects. */
export interface StoreBatch {
  create(path: string, members: Members): unknown;
  set(path: string, members: Members): unknown;
  update(path: string, members: Members, precondition?: CommitPrecondition): unknown;
  delete(path: string): unknown;
  commit(): Promise<readonly { readonly writeTime: Timestamp }[]>;
}

/** Adapts a batch of the client library. */
export function libraryBatch(db: Firestore, batch: WriteBatch = db.batch()): StoreBatch {
  return {
    create: (path, members) => batch.create(db.doc(path), members),
    set: (path, members) => batch.set(db.doc(path), members),
    update: (path, members, precondition) =>
      // An empty precondition would create a missing document.
      precondition ? batch.update(db.doc(path), members, precondition) : batch.update(db.doc(path), members),
    delete: (path) => batch.delete(db.doc(path)),
    commit: () => batch.commit(),
  };
}

/** A `CommitRequest`. */
export interface EncodedCommit {
  readonly bytes: Uint8Array;
  readonly writes: number;
  readonly deletes: number;
}

/** Sends one commit: Firestore's `Commit` call. */
export interface CommitChannel {
  /** `projects/{project}/databases/{database}`. */
  readonly database: string;
  /** The update time of each write, in order. Rejects with the gRPC status as `code`. */
  send(commit: EncodedCommit): Promise<readonly Timestamp[]>;
}
