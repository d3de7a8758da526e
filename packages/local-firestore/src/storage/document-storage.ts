/**
 * Storage interface of the server. Keys are opaque bytes whose order the model defines; a storage compares them
 * bytewise and does not interpret documents.
 */

export interface StoredDocument {
  readonly id: number;
  readonly key: Uint8Array;
  /** Encoded name and fields. */
  readonly body: Uint8Array;
  /** Microseconds since 1970. */
  readonly createTime: number;
  readonly updateTime: number;
}

/** From `from` (inclusive) to `to` (exclusive); undefined `to` means no bound. */
export interface KeyRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array | undefined;
}

export interface RangeScan extends KeyRange {
  readonly reverse: boolean;
  readonly limit: number;
}

interface EntryChanges {
  readonly added: readonly Uint8Array[];
  readonly removed: readonly Uint8Array[];
}

export type StorageMutation =
  | {
      readonly kind: 'put';
      /** Undefined for a new document. */
      readonly id: number | undefined;
      readonly key: Uint8Array;
      readonly body: Uint8Array;
      readonly createTime: number;
      readonly updateTime: number;
      readonly entries: EntryChanges;
    }
  | { readonly kind: 'remove'; readonly id: number; readonly entries: EntryChanges };

/** A row found through an index entry. */
export interface IndexedDocument {
  readonly entry: Uint8Array;
  readonly document: StoredDocument;
}

/** An index entry of a document, by its id. */
export interface DocumentEntry {
  readonly key: Uint8Array;
  readonly document: number;
}

export interface DocumentStorage {
  /** Number of a database, assigned on first use. */
  databaseNumber(name: string): number;
  databaseNames(): readonly string[];
  /** Time of the newest commit of a database, microseconds since 1970; 0 when there was none. */
  lastCommitTime(database: number): number;
  get(key: Uint8Array): StoredDocument | undefined;
  /** Documents in key order. */
  scanDocuments(scan: RangeScan): StoredDocument[];
  /** Documents in the order of their index entries. */
  scanEntries(scan: RangeScan): IndexedDocument[];
  /** Collection groups of a database whose documents are listed by name. */
  listedGroups(database: number): readonly string[];
  /** Adds the entries of the name list of a group, and stores that the list exists. Atomic; durable when it returns. */
  listGroup(database: number, collectionId: string, entries: Iterable<DocumentEntry>): void;
  /** Counts entries, up to `most`; default: all. */
  countEntries(range: KeyRange, most?: number): number;
  /** Applies all mutations of one commit or none. Visible immediately; durable when `durable()` resolves. */
  apply(database: number, commitTime: number, mutations: readonly StorageMutation[]): void;
  /** Undefined if all applied commits are already durable. */
  durable(): Promise<void> | undefined;
  /** Deletes all documents of a database. */
  clear(database: number): void;
  /**
   * Rebuilds the entries of every document, unless they were built with the same `fingerprint`. Atomic: a crash leaves the old
   * entries.
   */
  indexBy(fingerprint: string, entriesOf: (document: StoredDocument) => readonly Uint8Array[]): void;
  /** Writes a copy of everything to a new file, as of one moment. @throws when the file exists. */
  exportTo(file: string): void;
  /** Replaces everything with an exported copy. Atomic. @throws ExportFileError for any other file */
  importFrom(file: string): void;
  close(): void;
}
