/**
 * Counts what production would bill: document reads, writes and deletes, by call, collection id, document and run, and the write
 * rate of each document. Beyond a limit the oldest rows are dropped and counted in `dropped`; totals stay exact.
 */
import { collectionIdOf } from './model/resource-name.ts';

/** Plain numbers, JSON-able. */
interface MeterUsage {
  reads: number;
  writes: number;
  deletes: number;
}

export interface RunUsage extends MeterUsage {
  /** Commits that touched the run. */
  commits: number;
  /** Stored bytes of the documents those commits wrote, names included. */
  bytes: number;
  maxCommitBytes: number;
}

export interface DocumentUsage extends MeterUsage {
  /** The largest number of writes within any 10 seconds. */
  maxWritesIn10s: number;
}

interface MeterSnapshot {
  readonly total: MeterUsage & { commits: number; bytes: number; maxCommitBytes: number };
  readonly byCall: Record<string, MeterUsage & { calls: number }>;
  readonly byCollection: Record<string, MeterUsage>;
  readonly byDocument: Record<string, DocumentUsage>;
  readonly byRun: Record<string, RunUsage>;
  readonly dropped: { documents: number; runs: number; collections: number };
}

export interface MeteredWrite {
  readonly name: string;
  readonly kind: 'set' | 'delete';
  readonly bytes: number;
  readonly runId: string | undefined;
}

const WINDOW_MS = 10_000;
/** About 200 bytes a row: 10 MB at most. */
const MAX_DOCUMENTS = 50_000;
const MAX_RUNS = 20_000;
const MAX_COLLECTIONS = 1_000;

interface DocumentRow extends DocumentUsage {
  /** Milliseconds of the writes of the last window, oldest first. */
  readonly recent: number[];
}

export class Meter {
  readonly #clock: () => number;
  #total = { ...zero(), commits: 0, bytes: 0, maxCommitBytes: 0 };
  readonly #calls = new Map<string, MeterUsage & { calls: number }>();
  readonly #collections = new BoundedRows<MeterUsage>(MAX_COLLECTIONS, zero);
  readonly #documents = new BoundedRows<DocumentRow>(MAX_DOCUMENTS, newDocument);
  readonly #runs = new BoundedRows<RunUsage>(MAX_RUNS, newRun);

  /** `clock`: milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  call(call: string): void {
    this.#call(call).calls++;
  }

  /** One document read, found or missing. */
  read(call: string, name: string, runId: string | undefined): void {
    this.#collections.at(collectionIdOf(name)).reads++;
    this.#documents.at(name).reads++;
    if (runId !== undefined) this.#runs.at(runId).reads++;
    this.#count(call, 'reads', 1);
  }

  /** Reads of no particular document: an empty query, documents skipped by an offset, index entries. */
  otherReads(call: string, collection: string | undefined, count: number): void {
    if (count === 0) return;
    if (collection !== undefined) this.#collections.at(collection).reads += count;
    this.#count(call, 'reads', count);
  }

  commit(call: string, writes: readonly MeteredWrite[]): void {
    const now = this.#clock();
    const bytesByRun = new Map<string, number>();
    let bytes = 0;
    for (const write of writes) {
      const what = write.kind === 'set' ? 'writes' : 'deletes';
      bytes += write.bytes;
      this.#count(call, what, 1);
      this.#collections.at(collectionIdOf(write.name))[what]++;
      const document = this.#documents.at(write.name);
      document[what]++;
      noteWrite(document, now);
      if (write.runId === undefined) continue;
      this.#runs.at(write.runId)[what]++;
      bytesByRun.set(write.runId, (bytesByRun.get(write.runId) ?? 0) + write.bytes);
    }
    addCommit(this.#total, bytes);
    for (const [runId, runBytes] of bytesByRun) addCommit(this.#runs.at(runId), runBytes);
  }

  run(runId: string): RunUsage | undefined {
    const row = this.#runs.peek(runId);
    return row && { ...row };
  }

  document(name: string): DocumentUsage | undefined {
    const row = this.#documents.peek(name);
    return row && withoutTimes(row);
  }

  snapshot(): MeterSnapshot {
    return {
      total: { ...this.#total },
      byCall: Object.fromEntries([...this.#calls].map(([call, usage]) => [call, { ...usage }])),
      byCollection: this.#collections.toJSON((row) => ({ ...row })),
      byDocument: this.#documents.toJSON(withoutTimes),
      byRun: this.#runs.toJSON((row) => ({ ...row })),
      dropped: {
        documents: this.#documents.dropped,
        runs: this.#runs.dropped,
        collections: this.#collections.dropped,
      },
    };
  }

  reset(): void {
    this.#total = { ...zero(), commits: 0, bytes: 0, maxCommitBytes: 0 };
    this.#calls.clear();
    for (const rows of [this.#collections, this.#documents, this.#runs]) rows.clear();
  }

  #count(call: string, what: keyof MeterUsage, count: number): void {
    this.#total[what] += count;
    this.#call(call)[what] += count;
  }

  #call(call: string): MeterUsage & { calls: number } {
    let usage = this.#calls.get(call);
    if (!usage) {
      usage = { ...zero(), calls: 0 };
      this.#calls.set(call, usage);
    }
    return usage;
  }
}

/** Rows created on first use; beyond the limit the oldest is dropped. */
class BoundedRows<Row> {
  dropped = 0;
  readonly #cap: number;
  readonly #make: () => Row;
  readonly #rows = new Map<string, Row>();
  /**
   * Ring of the keys in order of creation, starting at `#oldest`. Asking the map for its first key would be slow, because V8 skips deleted
   * entries one by one.
   */
  readonly #keys: string[] = [];
  #oldest = 0;

  constructor(cap: number, make: () => Row) {
    this.#cap = cap;
    this.#make = make;
  }

  at(key: string): Row {
    const known = this.#rows.get(key);
    if (known) return known;
    if (this.#keys.length < this.#cap) {
      this.#keys.push(key);
    } else {
      this.#rows.delete(this.#keys[this.#oldest] as string);
      this.#keys[this.#oldest] = key;
      this.#oldest = (this.#oldest + 1) % this.#cap;
      this.dropped++;
    }
    const row = this.#make();
    this.#rows.set(key, row);
    return row;
  }

  peek(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  clear(): void {
    this.#rows.clear();
    this.#keys.length = 0;
    this.#oldest = 0;
    this.dropped = 0;
  }

  toJSON<T>(view: (row: Row) => T): Record<string, T> {
    return Object.fromEntries([...this.#rows].map(([key, row]) => [key, view(row)]));
  }
}

function zero(): MeterUsage {
  return { reads: 0, writes: 0, deletes: 0 };
}

function newDocument(): DocumentRow {
  return { ...zero(), maxWritesIn10s: 0, recent: [] };
}

function newRun(): RunUsage {
  return { ...zero(), commits: 0, bytes: 0, maxCommitBytes: 0 };
}

function addCommit(row: { commits: number; bytes: number; maxCommitBytes: number }, bytes: number): void {
  row.commits++;
  row.bytes += bytes;
  row.maxCommitBytes = Math.max(row.maxCommitBytes, bytes);
}

function noteWrite(row: DocumentRow, now: number): void {
  while (row.recent.length > 0 && now - (row.recent[0] as number) >= WINDOW_MS) row.recent.shift();
  row.recent.push(now);
  row.maxWritesIn10s = Math.max(row.maxWritesIn10s, row.recent.length);
}

function withoutTimes({ reads, writes, deletes, maxWritesIn10s }: DocumentRow): DocumentUsage {
  return { reads, writes, deletes, maxWritesIn10s };
}
