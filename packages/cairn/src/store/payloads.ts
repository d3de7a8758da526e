/**
 * Large values in Firestore, in chunks of one document each. Written with the client library's own batches, not with
 * the low-level ones of commits: there are few of them, and they carry bytes.
 *
 * Must not: be part of a commit of a run, because one value may be larger than a request.
 */
import type { DocumentReference, Firestore } from '@google-cloud/firestore';
import type { PayloadRef } from '../core/run/events.ts';
import { payloadOf, payloadText } from '../core/run/payload.ts';
import { messageOf } from '../core/thrown.ts';
import { assertSoundPayload } from '../ports/commit-rules.ts';
import { UndecodableDocument } from '../ports/store-errors.ts';
import type { PayloadStore } from '../ports/value-store.ts';
import { call } from './call.ts';
import { chunkCodec } from './codec/values.ts';
import type { Paths } from './paths.ts';

/** Chunks read or written in one request: 9 × 900 KiB are below 8 MiB, and Firestore takes 10. */
const CHUNKS_A_REQUEST = 9;

export class FirestorePayloads implements PayloadStore {
  readonly #db: Firestore;
  readonly #paths: Paths;

  constructor(db: Firestore, paths: Paths) {
    this.#db = db;
    this.#paths = paths;
  }

  async writePayload(runId: string, text: string): Promise<PayloadRef> {
    assertSoundPayload(text);
    const { ref, chunks } = payloadOf(text);
    const run = this.#paths.run(runId);
    for (const some of inRequests([...chunks.entries()])) {
      const batch = this.#db.batch();
      for (const [n, data] of some) {
        // `set` instead of `create`: an existing chunk has the same bytes, because its path contains their hash.
        batch.set(this.#paths.payloadChunk(run, ref.sha256, n), chunkCodec.encode({ data }));
      }
      await call(`write of ${nameOf(runId, ref)}`, () => batch.commit());
    }
    return ref;
  }

  async readPayload(runId: string, ref: PayloadRef): Promise<string> {
    const what = nameOf(runId, ref);
    const chunks: (Uint8Array | undefined)[] = [];
    for (const documents of inRequests(this.#documents(runId, ref))) {
      const found = await call(`read of ${what}`, () => this.#db.getAll(...documents));
      for (const document of found) {
        const data = document.data();
        chunks.push(data && chunkCodec.decode(data, `chunk ${document.id} of run ${runId}`).data);
      }
    }
    try {
      return payloadText(ref, chunks, what);
    } catch (cause) {
      throw new UndecodableDocument(messageOf(cause), { cause });
    }
  }

  async deletePayload(runId: string, ref: PayloadRef): Promise<void> {
    for (const documents of inRequests(this.#documents(runId, ref))) {
      const batch = this.#db.batch();
      for (const document of documents) batch.delete(document);
      await call(`removal of ${nameOf(runId, ref)}`, () => batch.commit());
    }
  }

  #documents(runId: string, { sha256, chunks }: PayloadRef): DocumentReference[] {
    const run = this.#paths.run(runId);
    return Array.from({ length: chunks }, (_, n) => this.#paths.payloadChunk(run, sha256, n));
  }
}

function* inRequests<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += CHUNKS_A_REQUEST)
    yield all.slice(from, from + CHUNKS_A_REQUEST);
}

function nameOf(runId: string, { sha256 }: PayloadRef): string {
  return `payload ${sha256} of run ${runId}`;
}
