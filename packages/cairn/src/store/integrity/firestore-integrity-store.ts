/**
 * The documents of a run in Firestore for checks and repairs. A check is one read-only transaction without locks, so that all
 * its reads show the same moment. A repair is one commit under the versions that were read.
 *
 * Must not: judge documents, or decide what is written.
 */
import {
  type CollectionReference,
  type DocumentReference,
  type DocumentSnapshot,
  FieldPath,
  FieldValue,
  type Firestore,
  type Query,
  type Transaction,
  type WriteBatch,
} from '@google-cloud/firestore';
import type { FoundDocument } from '../../core/integrity/found.ts';
import type {
  DocumentWrite,
  IntegrityReader,
  ListStretch,
  RepairCommit,
  RepairResult,
  RepairStore,
  RunReader,
} from '../../ports/runs/integrity-store.ts';
import { call, isStale, isTaken } from '../call.ts';
import { recordCodec } from '../codec/access.ts';
import { findingCodec, mailboxCodec } from '../codec/documents.ts';
import { effectCodec } from '../codec/effect.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../codec/journal.ts';
import type { DocumentCodec, Members } from '../codec/kinds.ts';
import { encodeRepairedSnapshot } from '../codec/snapshot.ts';
import { libraryBatch } from '../commits/store-batch.ts';
import { FirestoreStore } from '../firestore-store.ts';
import { MAX_PAGES, RunPages } from '../pages/run-pages.ts';
import { spill } from '../pages/spill.ts';
import { lastUpdateTime, versionOf } from '../version.ts';
import { wholeUpdate } from '../versioned-document.ts';
import {
  found,
  foundCheckpoint,
  foundEvent,
  foundSnapshot,
  foundStep,
  type RawDocument,
} from './found-documents.ts';
import { PagesInPlace } from './pages-in-place.ts';

export class FirestoreIntegrityStore extends FirestoreStore implements IntegrityReader, RepairStore {
  readonly #pages: RunPages;

  constructor(db: Firestore, prefix?: string) {
    super(db, prefix);
    this.#pages = new RunPages(db, this.paths);
  }

  /**
   * Each read is a call of its own. A large run takes hundreds, and only calls without an answer count against the budget of
   * the request.
   */
  atOneMoment<T>(runId: string, work: (reader: RunReader) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const settled = async (transaction: Transaction) => {
      // The work settles the promise itself, because the transaction would first await its end from a store that may not answer.
      await work(this.#reader(runId, transaction)).then(resolve, (error: unknown) => {
        reject(error);
        throw error;
      });
    };
    this.db.runTransaction(settled, { readOnly: true }).catch(reject);
    return promise;
  }

  async repair(commit: RepairCommit): Promise<RepairResult> {
    const { runId, event, snapshot, steps, checkpoints } = commit;
    const run = this.paths.run(runId);
    const batch = this.db.batch();
    batch.create(this.paths.event(run, event.seq), eventCodec.encode(event));
    const isMetadataLost = snapshot.isMetadataDamaged || snapshot.seen === undefined;
    const whole = encodeRepairedSnapshot(snapshot.state, snapshot.metadata, isMetadataLost);
    const pages = await this.#pages.toRepair(run, spill(whole, snapshot.state));
    const members = { ...whole, ...pages.members };
    if (snapshot.seen === undefined) batch.create(run, present(members));
    else batch.update(run, members, lastUpdateTime(snapshot.seen));
    for (const step of steps) put(batch, this.paths.steps(run).doc(step.id), { ...step, codec: stepCodec });
    for (const checkpoint of checkpoints) {
      const document = this.paths.checkpoints(run).doc(checkpoint.id);
      put(batch, document, { ...checkpoint, codec: checkpointCodec });
    }
    pages.fill(libraryBatch(this.db, batch));
    try {
      const written = await call(`repair of run ${runId}`, () => batch.commit());
      const [, ofSnapshot] = written;
      if (!ofSnapshot) throw new Error('a commit that answers nothing');
      return { kind: 'repaired', snapshotVersion: versionOf(ofSnapshot.writeTime) };
    } catch (error) {
      if (isTaken(error) || isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }

  async outputText(runId: string, seq: number): Promise<string | undefined> {
    const document = this.paths.checkpoint(this.paths.run(runId), seq);
    const read = await call(`read of an output of run ${runId}`, () => document.get());
    const { output } = read.data() ?? {};
    return typeof output === 'string' ? output : undefined;
  }

  #reader(runId: string, transaction: Transaction): RunReader {
    const run = this.paths.run(runId);
    const read = <T>(send: () => Promise<T>) => call(`check of run ${runId}`, send);
    const one = async (document: DocumentReference) => rawOf(await read(() => transaction.get(document)));
    const all = (documents: readonly DocumentReference[]) => read(() => transaction.getAll(...documents));
    const list = (query: Query) => read(() => transaction.get(query));
    const stretch = async (of: CollectionReference, { after, limit }: ListStretch) => {
      const ordered = of.orderBy(FieldPath.documentId()).limit(limit);
      const { docs } = await list(after === undefined ? ordered : ordered.startAfter(after));
      return docs.flatMap((document) => rawOf(document) ?? []);
    };
    // The document itself gives its position, because its members may be damaged.
    const lastRows = new Map<string, DocumentSnapshot>();
    const pages = new PagesInPlace(
      (names) => all(names.map((name) => this.paths.page(run, name))),
      () => list(this.paths.pages(run).limit(MAX_PAGES).select()),
    );
    return {
      runId,
      snapshot: async () => {
        const snapshot = await read(() => transaction.get(run));
        const raw = rawOf(snapshot);
        return {
          found: raw && foundSnapshot(raw, await pages.of(raw.members)),
          readAt: snapshot.readTime.toMillis(),
        };
      },
      pages: () => pages.faulty(),
      events: async (wanted) => (await stretch(this.paths.events(run), wanted)).map(foundEvent),
      checkpoints: async (wanted) =>
        (await stretch(this.paths.checkpoints(run), wanted)).map(foundCheckpoint),
      steps: async (wanted) => (await stretch(this.paths.steps(run), wanted)).map(foundStep),
      effectsOfRun: async ({ after, limit }) => {
        const ofRun = this.paths.effects().where('runId', '==', runId);
        const ordered = ofRun.orderBy('createdAt').orderBy(FieldPath.documentId()).limit(limit);
        const last = after && lastRows.get(after);
        const { docs } = await list(last ? ordered.startAfter(last) : ordered);
        const end = docs.at(-1);
        if (end) lastRows.set(end.id, end);
        return docs.flatMap((document) => decoded(rawOf(document), effectCodec) ?? []);
      },
      effects: async (effectIds) => {
        if (effectIds.length === 0) return [];
        const rows = await all(effectIds.map((id) => this.paths.effect(id)));
        return rows.flatMap((document) => decoded(rawOf(document), effectCodec) ?? []);
      },
      origins: async (refs) => {
        if (refs.length === 0) return [];
        const wanted = refs.map(({ runId: of, checkpoint }) =>
          this.paths.checkpoint(this.paths.run(of), checkpoint),
        );
        const checkpoints = await all(wanted);
        return checkpoints.map((document) => {
          const raw = rawOf(document);
          return raw && foundCheckpoint(raw);
        });
      },
      mailbox: async (address) => decoded(await one(this.paths.mailbox(address)), mailboxCodec),
      finding: async () => {
        const finding = decoded(await one(this.paths.finding(runId)), findingCodec);
        return finding?.kind === 'sound' ? finding.value : undefined;
      },
      record: async (key) => decoded(await one(this.paths.idempotencyRecord(key)), recordCodec),
    };
  }
}

function rawOf(document: DocumentSnapshot): RawDocument | undefined {
  const members = document.data();
  if (!members || !document.updateTime) return undefined;
  return { id: document.id, version: versionOf(document.updateTime), members };
}

function decoded<T>(raw: RawDocument | undefined, codec: DocumentCodec<T>): FoundDocument<T> | undefined {
  return raw && found(raw, () => codec.decode(raw.members, 'the document'));
}

/** Removes members that an update would delete, which a created document simply lacks. */
function present(members: Members): Members {
  const deletion = FieldValue.delete();
  return Object.fromEntries(
    Object.entries(members).filter(([, member]) => !deletion.isEqual(member as FieldValue)),
  );
}

function put<T>(
  batch: WriteBatch,
  document: DocumentReference,
  { seen, value, codec }: DocumentWrite<T> & { readonly codec: DocumentCodec<T> },
): void {
  if (value === undefined) {
    if (seen !== undefined) batch.delete(document, lastUpdateTime(seen));
    return;
  }
  if (seen === undefined) batch.create(document, codec.encode(value));
  else batch.update(document, wholeUpdate(codec, value), lastUpdateTime(seen));
}
