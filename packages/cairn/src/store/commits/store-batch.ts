/** A write batch as the stores use it, and the way by which its commit is sent. */
import type { DocumentReference, Timestamp } from '@google-cloud/firestore';
import type { Members } from '../codec/kinds.ts';

export type CommitPrecondition = { readonly lastUpdateTime?: Timestamp };

/** The batch of the client library has this form too. */
export interface StoreBatch {
  create(document: DocumentReference, members: Members): unknown;
  set(document: DocumentReference, members: Members): unknown;
  update(document: DocumentReference, members: Members, precondition?: CommitPrecondition): unknown;
  delete(document: DocumentReference): unknown;
  commit(): Promise<readonly { readonly writeTime: Timestamp }[]>;
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
