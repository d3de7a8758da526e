/**
 * One database: its documents, and the order of its commits. Each operation is one step of the event loop, so that a commit is
 * atomic and a query reads one moment. Independent of the wire format, except for stored bodies.
 */
import { randomUUID } from 'node:crypto';
import { documentKey, levelPrefix } from '../model/document-key.ts';
import { documentSize } from '../model/document-size.ts';
import type { IndexConfig } from '../model/index/index-config.ts';
import { entryDifference, nameEntry } from '../model/index/index-entries.ts';
import { MAX_DOCUMENT_BYTES, MAX_READ_AGE_MS, MAX_TRANSFORMS_PER_DOCUMENT } from '../model/limits.ts';
import type { PlannedDatabase } from '../model/query/planner.ts';
import { parseDocument } from '../model/resource-name.ts';
import { Code, invalid, StatusError } from '../model/status.ts';
import type { Fields, Value } from '../model/value.ts';
import { applyWrite, checkSequence, type DocumentVersion, type Write } from '../model/write.ts';
import type {
  DocumentEntry,
  DocumentStorage,
  StorageMutation,
  StoredDocument,
} from '../storage/document-storage.ts';
import { decodeDocument, decodeName, encodeBody } from '../wire/document-codec.ts';
import { documentsWithPrefix, levelsBelow } from './path-scan.ts';
import type { WriteIntent } from './transactions/lock-need.ts';
import { RecentHistory, type Replaced } from './transactions/recent-history.ts';
import type { Snapshot } from './transactions/snapshot.ts';

export interface DocumentWriteResult {
  readonly name: string;
  /** Microseconds since 1970, like `updateTime`; undefined for a delete. */
  readonly createTime: number | undefined;
  readonly updateTime: number | undefined;
  readonly transformResults: readonly Value[];
  readonly kind: Write['kind'];
  /** Bytes stored by this write; 0 when it changed nothing. */
  readonly bytes: number;
  /** The document after the write, or before it when it was deleted. */
  readonly fields: Fields | undefined;
}

/** A commit that is decided but not applied yet. */
export interface CommitPlan {
  readonly time: number;
  readonly outcomes: readonly DocumentWriteResult[];
  readonly intents: readonly WriteIntent[];
  readonly mutations: readonly StorageMutation[];
  /** Documents replaced by the commit, for snapshots taken before it. */
  readonly replaced: readonly Replaced[];
}

/** One document while a commit is being decided. */
interface DocumentDraft {
  readonly segments: readonly string[];
  readonly key: Buffer;
  readonly stored: StoredDocument | undefined;
  readonly before: DocumentVersion | undefined;
  next: DocumentVersion | undefined;
  body: Uint8Array | undefined;
  changed: boolean;
  /** True if an earlier write of the commit has written the document. */
  isWritten: boolean;
  /** Number of transforms of all its writes so far. */
  transforms: number;
}

export interface DocumentAddress {
  readonly name: string;
  readonly segments: readonly string[];
}

/** Must not throw, read or write: a commit is in progress. */
type Watcher = (names: readonly string[]) => void;

export interface DatabaseOptions {
  readonly storage: DocumentStorage;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly indexes: IndexConfig;
}

export class Database {
  readonly name: string;
  readonly number: number;
  readonly storage: DocumentStorage;
  readonly indexes: IndexConfig;
  /** Changes whenever the history of recent commits restarts. */
  readonly incarnation: string = randomUUID();
  readonly #clock: () => number;
  readonly #snapshots = new Set<Snapshot>();
  readonly #recent: RecentHistory;
  readonly #watchers = new Set<Watcher>();
  /** Collection groups whose documents are listed by name. */
  readonly #listed: Set<string>;
  #lastTime: number;

  constructor(name: string, { storage, clock, indexes }: DatabaseOptions) {
    this.name = name;
    this.storage = storage;
    this.number = storage.databaseNumber(name);
    this.indexes = indexes;
    this.#clock = clock;
    this.#lastTime = storage.lastCommitTime(this.number);
    this.#recent = new RecentHistory(this.#lastTime);
    this.#listed = new Set(storage.listedGroups(this.number));
  }

  /** Facts that the plan of a query depends on. */
  get planned(): PlannedDatabase {
    const { indexes: config, number: database, storage } = this;
    return { config, database, countEntries: (range, most) => storage.countEntries(range, most) };
  }

  /**
   * From now on keeps a name list of a collection group. Only some groups have one, because few are queried without a field index, and
   * the list is a third of the cost of a small write.
   */
  listGroup(collectionId: string): void {
    if (this.#listed.has(collectionId) || this.indexes.expiry.has(collectionId)) return;
    this.storage.listGroup(this.number, collectionId, this.#listOf(collectionId));
    this.#listed.add(collectionId);
  }

  *#listOf(collectionId: string): Generator<DocumentEntry> {
    const { number: database } = this;
    for (const level of levelsBelow([])) {
      for (const { id, body } of documentsWithPrefix(this.storage, levelPrefix(database, level, []))) {
        const { segments } = parseDocument(decodeName(body));
        if (segments.at(-2) === collectionId) yield { key: nameEntry({ database, segments }), document: id };
      }
    }
  }

  /** Time of a read now, which sees every earlier commit. */
  readTime(): number {
    this.#lastTime = Math.max(Math.floor(this.#clock() * 1000), this.#lastTime);
    return this.#lastTime;
  }

  /** The newest version, or that of a snapshot. */
  get({ segments, name }: DocumentAddress, snapshot?: Snapshot): StoredDocument | undefined {
    if (snapshot?.has(name)) return snapshot.get(name);
    return this.storage.get(documentKey(this.number, segments));
  }

  /** Keeps the current or a recent moment readable until `close`. */
  open(time = this.readTime()): Snapshot {
    const snapshot = this.at(time);
    this.#snapshots.add(snapshot);
    return snapshot;
  }

  /** A recent moment. @throws INVALID_ARGUMENT in the future, FAILED_PRECONDITION when it is too long ago */
  at(time: number): Snapshot {
    if (this.#isTooOld(time)) {
      throw new StatusError(Code.FAILED_PRECONDITION, "The requested 'read_time' is too old.");
    }
    return this.#recent.at(time);
  }

  /** Returns true if that time can still be read. @throws INVALID_ARGUMENT for a future time */
  remembers(time: number): boolean {
    return !this.#isTooOld(time) && this.#recent.reaches(time);
  }

  #isTooOld(time: number): boolean {
    const now = this.readTime();
    if (time > now) throw invalid("The requested 'read_time' cannot be in the future.");
    return time < now - MAX_READ_AGE_MS * 1000;
  }

  /** Reports the names that each commit changes, within the event-loop step that applies it. Returns a function that stops it. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  close(snapshot: Snapshot): void {
    this.#snapshots.delete(snapshot);
  }

  /** Decides a commit completely. @throws the refusal of the first write that cannot be applied */
  plan(writes: readonly Write[]): CommitPlan {
    if (writes.length > 1) checkSequence(writes);
    const time = Math.max(Math.floor(this.#clock() * 1000), this.#lastTime + 1);
    const drafts = new Map<string, DocumentDraft>();
    const outcomes = writes.map((write) => {
      let draft = drafts.get(write.name);
      if (!draft) {
        draft = this.#draft(write);
        drafts.set(write.name, draft);
      }
      return decide(draft, write, time);
    });
    const changed = [...drafts].filter(([, draft]) => draft.changed);
    const intents = changed.map(([name, draft]) => toIntent(name, draft));
    const mutations = changed.flatMap(([, draft]) => this.#mutation(draft));
    const replaced = changed.map(([name, { stored }]) => ({ name, stored }));
    return { time, outcomes, intents, mutations, replaced };
  }

  apply(plan: CommitPlan): void {
    this.#lastTime = plan.time;
    this.storage.apply(this.number, plan.time, plan.mutations);
    this.#recent.record(plan.time, plan.replaced);
    for (const snapshot of this.#snapshots) {
      for (const { name, stored } of plan.replaced) snapshot.replace(name, stored);
      if (snapshot.overflown) this.#snapshots.delete(snapshot);
    }
    if (this.#watchers.size === 0) return;
    const names = plan.replaced.map(({ name }) => name);
    for (const watcher of this.#watchers) watcher(names);
  }

  #draft(write: Write): DocumentDraft {
    const key = documentKey(this.number, write.resource.segments);
    const stored = this.storage.get(key);
    const before = stored && {
      fields: decodeDocument(stored.body).fields,
      createTime: stored.createTime,
      updateTime: stored.updateTime,
    };
    const { segments } = write.resource;
    return {
      segments,
      key,
      stored,
      before,
      next: before,
      body: undefined,
      changed: false,
      isWritten: false,
      transforms: 0,
    };
  }

  #mutation(draft: DocumentDraft): StorageMutation[] {
    const { segments, key, stored, before, next, body } = draft;
    if (!next && !stored) return [];
    const isListed = this.#listed.has(segments.at(-2) as string);
    const document = { database: this.number, segments, isListed };
    const entries = entryDifference(this.indexes, document, { before: before?.fields, after: next?.fields });
    if (!next || !body) return stored ? [{ kind: 'remove', id: stored.id, entries }] : [];
    const { createTime, updateTime } = next;
    return [{ kind: 'put', id: stored?.id, key, body, createTime, updateTime, entries }];
  }
}

/** Bodies below this size need no exact count: a number counts as 8 bytes but may take only one on the wire. */
const SURELY_SMALL_BYTES = MAX_DOCUMENT_BYTES / 8;

function checkSize(write: Write, fields: Fields, bodyBytes: number): void {
  if (bodyBytes < SURELY_SMALL_BYTES) return;
  const size = documentSize(write.resource.segments, fields);
  if (size <= MAX_DOCUMENT_BYTES) return;
  throw invalid(
    `Document "${write.name}" cannot be written because its size (${size.toLocaleString('en-US')} bytes) ` +
      `exceeds the maximum allowed size of ${MAX_DOCUMENT_BYTES.toLocaleString('en-US')} bytes.`,
  );
}

function decide(draft: DocumentDraft, write: Write, time: number): DocumentWriteResult {
  if (write.kind === 'set') draft.transforms += write.transforms.length;
  if (draft.transforms > MAX_TRANSFORMS_PER_DOCUMENT) {
    throw invalid(`"${write.name}" has more than ${MAX_TRANSFORMS_PER_DOCUMENT} transforms in one commit.`);
  }
  const fieldsBefore = draft.next?.fields;
  // Several writes may require an update time; it is that of the document before the commit (`checkSequence`).
  const isChecked = draft.isWritten && write.precondition.kind === 'updateTime';
  draft.isWritten = true;
  const checked = isChecked ? { ...write, precondition: { kind: 'none' } as const } : write;
  const { next, changed, transformResults } = applyWrite(draft.next, checked, time);
  let bytes = 0;
  if (changed) {
    draft.next = next;
    draft.changed = true;
    draft.body = undefined;
    if (next) {
      draft.body = (write.kind === 'set' && write.body) || encodeBody(write.name, next.fields);
      bytes = draft.body.length;
      checkSize(write, next.fields, bytes);
    }
  }
  const { name, kind } = write;
  const fields = next?.fields ?? fieldsBefore;
  const { createTime, updateTime } = next ?? { createTime: undefined, updateTime: undefined };
  return { name, kind, createTime, updateTime, transformResults, bytes, fields };
}

function toIntent(name: string, draft: DocumentDraft): WriteIntent {
  return {
    name,
    collectionId: draft.segments[draft.segments.length - 2] as string,
    before: draft.before && { name, fields: draft.before.fields },
    after: draft.next && { name, fields: draft.next.fields },
  };
}
