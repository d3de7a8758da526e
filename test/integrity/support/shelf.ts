/**
 * The documents of one run in the form in which Firestore holds them, to be damaged as documents are: members lost, cut,
 * exchanged. Read by the code that reads Firestore's, and repaired under the same preconditions.
 */
import { FieldValue, Timestamp } from '@google-cloud/firestore';
import { encodeKey } from '../../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import { seqId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type {
  DocumentWrite,
  IntegrityReader,
  ListStretch,
  RepairCommit,
  RepairResult,
  RepairStore,
  RunReader,
} from '../../../packages/cairn/src/ports/runs/integrity-store.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../../../packages/cairn/src/store/codec/journal.ts';
import type { DocumentCodec, Members } from '../../../packages/cairn/src/store/codec/kinds.ts';
import { decodeSnapshot, encodeRepairedSnapshot } from '../../../packages/cairn/src/store/codec/snapshot.ts';
import {
  foundCheckpoint,
  foundEvent,
  foundSnapshot,
  foundStep,
  type RawDocument,
} from '../../../packages/cairn/src/store/integrity/found-documents.ts';
import { MemoryIntegrityStore } from '../../support/memory/memory-integrity-store.ts';

export interface Document {
  readonly version: string;
  readonly members: Members;
}

export type Folder = 'runs' | 'events' | 'checkpoints' | 'steps';
const FOLDERS = ['runs', 'events', 'checkpoints', 'steps'] as const;

export class Shelf implements IntegrityReader, RepairStore {
  readonly runId: string;
  readonly #db: MemoryDatabase;
  readonly #folders: Readonly<Record<Folder, Map<string, Document>>>;
  #writes = 0;
  /** Called before a repair is committed, and after it was; throws if the process is to die there. */
  onCommit: (moment: 'before' | 'after', commit: RepairCommit) => void = () => {};

  constructor(runId: string, db: MemoryDatabase, folders?: Shelf['folders']) {
    this.runId = runId;
    this.#db = db;
    this.#folders = {
      runs: new Map(folders?.runs),
      events: new Map(folders?.events),
      checkpoints: new Map(folders?.checkpoints),
      steps: new Map(folders?.steps),
    };
  }

  /** The documents of a run in memory as they would be in Firestore. */
  static of(db: MemoryDatabase, runId: string): Shelf {
    const run = db.runs.get(runId);
    if (!run) throw new Error(`there is no run ${runId}`);
    const shelf = new Shelf(runId, db);
    const members = present(encodeRepairedSnapshot(run.snapshot, run.metadata, true));
    delete members.wakeAt;
    const wakeAt = run.wakeAt === undefined ? {} : { wakeAt: Timestamp.fromMillis(run.wakeAt) };
    shelf.put('runs', runId, { ...members, ...wakeAt });
    for (const event of run.events) shelf.put('events', seqId(event.seq), eventCodec.encode(event));
    for (const [seq, checkpoint] of run.checkpoints)
      shelf.put('checkpoints', seqId(seq), checkpointCodec.encode(checkpoint));
    for (const [key, step] of run.steps) shelf.put('steps', encodeKey(key), stepCodec.encode(step));
    return shelf;
  }

  get folders(): Readonly<Record<Folder, ReadonlyMap<string, Document>>> {
    return this.#folders;
  }

  /** The same documents, to be damaged in another way. */
  copy(): Shelf {
    const copy = new Shelf(this.runId, this.#db, this.#folders);
    copy.#writes = this.#writes;
    return copy;
  }

  /** Every document, by where it lies. */
  all(): { readonly folder: Folder; readonly id: string; readonly members: Members }[] {
    return FOLDERS.flatMap((folder) =>
      [...this.#folders[folder]].map(([id, { members }]) => ({ folder, id, members })),
    );
  }

  members(folder: Folder, id: string): Members {
    const document = this.#folders[folder].get(id);
    if (!document) throw new Error(`there is no ${folder}/${id}`);
    return document.members;
  }

  put(folder: Folder, id: string, members: Members): void {
    this.#writes += 1;
    this.#folders[folder].set(id, { version: `s${this.#writes}`, members });
  }

  /** Changes members of a document; undefined takes one away. */
  change(folder: Folder, id: string, changes: Members): void {
    this.put(folder, id, present({ ...this.members(folder, id), ...changes }));
  }

  delete(folder: Folder, id: string): void {
    if (!this.#folders[folder].delete(id)) throw new Error(`there is no ${folder}/${id}`);
  }

  /** The journal as it stands; throws for what is no event. */
  journal(): RunEvent[] {
    return this.#raw('events').map(({ id, members }) => eventCodec.decode(members, id));
  }

  snapshot() {
    return decodeSnapshot(this.members('runs', this.runId), 'run');
  }

  async atOneMoment<T>(runId: string, look: (reader: RunReader) => Promise<T>): Promise<T> {
    // Mailboxes and records belong to no run: they are those of the database.
    const around = new MemoryIntegrityStore(this.#db);
    return around.atOneMoment(runId, async (reader) => {
      const mine = runId === this.runId ? this : new Shelf(runId, this.#db);
      return look({
        ...reader,
        snapshot: async () => {
          const [raw] = mine.#raw('runs');
          return { found: raw && foundSnapshot(raw), readAt: this.#db.now() };
        },
        events: async (stretch) => mine.#stretch('events', stretch).map(foundEvent),
        checkpoints: async (stretch) => mine.#stretch('checkpoints', stretch).map(foundCheckpoint),
        steps: async (stretch) => mine.#stretch('steps', stretch).map(foundStep),
      });
    });
  }

  async repair(commit: RepairCommit): Promise<RepairResult> {
    this.onCommit('before', commit);
    const { runId, event, snapshot, steps, checkpoints } = commit;
    const stands = (folder: Folder, writes: readonly { id: string; seen: string | undefined }[]) =>
      writes.every(({ id, seen }) => this.#folders[folder].get(id)?.version === seen);
    const isFree = !this.#folders.events.has(seqId(event.seq));
    if (
      !isFree ||
      !stands('runs', [{ id: runId, seen: snapshot.seen }]) ||
      !stands('steps', steps) ||
      !stands('checkpoints', checkpoints)
    ) {
      return { kind: 'stale' };
    }
    this.put('events', seqId(event.seq), eventCodec.encode(event));
    const update = encodeRepairedSnapshot(snapshot.state, snapshot.metadata, snapshot.isMetadataDamaged);
    this.put('runs', runId, present({ ...this.#folders.runs.get(runId)?.members, ...update }));
    this.#write('steps', steps, stepCodec);
    this.#write('checkpoints', checkpoints, checkpointCodec);
    this.onCommit('after', commit);
    return { kind: 'repaired', snapshotVersion: this.#folders.runs.get(runId)?.version as string };
  }

  async outputText(_runId: string, seq: number): Promise<string | undefined> {
    const { output } = this.#folders.checkpoints.get(seqId(seq))?.members ?? {};
    return typeof output === 'string' ? output : undefined;
  }

  #write<T>(folder: Folder, writes: readonly DocumentWrite<T>[], codec: DocumentCodec<T>): void {
    for (const { id, value } of writes) {
      if (value === undefined) this.#folders[folder].delete(id);
      else this.put(folder, id, codec.encode(value));
    }
  }

  #raw(folder: Folder): RawDocument[] {
    return [...this.#folders[folder]]
      .map(([id, document]) => ({ id, ...document }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #stretch(folder: Folder, { after = '', limit }: ListStretch): RawDocument[] {
    return this.#raw(folder)
      .filter(({ id }) => id > after)
      .slice(0, limit);
  }
}

function present(members: Members): Members {
  const gone = FieldValue.delete();
  return Object.fromEntries(
    Object.entries(members).filter(
      ([, member]) => member !== undefined && !gone.isEqual(member as FieldValue),
    ),
  );
}
