/**
 * State of a stand-in for an external service: the created items, and every call. Owns its tables; does not interpret
 * items. A change and the record of its call are one transaction, on disk before the response: an acknowledged change
 * survives SIGKILL, and applied calls are counted.
 */
import { GroupedDatabase, type StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';

/** One request and its result. */
export interface RecordedCall {
  readonly n: number;
  /** Epoch ms. */
  readonly at: number;
  readonly route: string;
  readonly path: string;
  /** Response that was sent, or would have been. */
  readonly status: number;
  /** The call changed something. */
  readonly applied: boolean;
  /** The caller's mark in the request: the first 64 hex digits in it. */
  readonly marker?: string;
  /** Injected fault. */
  readonly fault?: string;
}

export interface StoredItem<Value> {
  readonly id: number;
  readonly value: Value;
}

export interface Slice {
  readonly skip: number;
  readonly take: number;
  readonly newestFirst?: boolean;
}

/** `place` is the parent of an item: the issue of a comment, the commit of a status. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, place TEXT NOT NULL, value TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS items_place ON items (kind, place);
  CREATE TABLE IF NOT EXISTS calls (
    n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, route TEXT NOT NULL, path TEXT NOT NULL,
    status INTEGER NOT NULL, applied INTEGER NOT NULL, marker TEXT, fault TEXT) STRICT;
  CREATE INDEX IF NOT EXISTS calls_marker ON calls (marker) WHERE applied = 1;`;

const SQL = {
  add: 'INSERT INTO items (kind, place, value) VALUES (?, ?, ?)',
  get: 'SELECT id, value FROM items WHERE kind = ? AND id = ?',
  list: 'SELECT id, value FROM items WHERE kind = ? AND place = ? ORDER BY id LIMIT ? OFFSET ?',
  newest: 'SELECT id, value FROM items WHERE kind = ? AND place = ? ORDER BY id DESC LIMIT ? OFFSET ?',
  count: 'SELECT count(*) AS n FROM items WHERE kind = ? AND place = ?',
  put: 'UPDATE items SET value = ? WHERE kind = ? AND id = ?',
  remove: 'DELETE FROM items WHERE kind = ? AND id = ?',
  note: 'INSERT INTO calls (at, route, path, status, applied, marker, fault) VALUES (?, ?, ?, ?, ?, ?, ?)',
  calls: 'SELECT * FROM calls ORDER BY n DESC LIMIT ?',
  applied:
    'SELECT marker, count(*) AS n FROM calls WHERE applied = 1 AND marker IS NOT NULL GROUP BY marker LIMIT ?',
} as const;

interface CallRow extends Omit<RecordedCall, 'applied' | 'marker' | 'fault'> {
  readonly applied: number;
  readonly marker: string | null;
  readonly fault: string | null;
}

export class StandInStore {
  readonly #db: GroupedDatabase<typeof SQL, never>;

  constructor(storage: StorageChoice) {
    this.#db = new GroupedDatabase({ storage, schema: SCHEMA, sql: SQL, apply: () => undefined });
  }

  transaction(work: () => void): void {
    this.#db.transaction(work);
  }

  add(kind: string, place: string, value: object): number {
    return Number(this.#db.statements.add.run(kind, place, JSON.stringify(value)).lastInsertRowid);
  }

  get<Value>(kind: string, id: number): StoredItem<Value> | undefined {
    const row = this.#db.statements.get.get(kind, id);
    return row && itemOf<Value>(row);
  }

  list<Value>(kind: string, place: string, { skip, take, newestFirst }: Slice): StoredItem<Value>[] {
    const statement = newestFirst ? this.#db.statements.newest : this.#db.statements.list;
    return statement.all(kind, place, take, skip).map((row) => itemOf<Value>(row));
  }

  count(kind: string, place: string): number {
    return Number(this.#db.statements.count.get(kind, place)?.n);
  }

  put(kind: string, id: number, value: object): void {
    this.#db.statements.put.run(JSON.stringify(value), kind, id);
  }

  remove(kind: string, id: number): void {
    this.#db.statements.remove.run(kind, id);
  }

  note({ at, route, path, status, applied, marker, fault }: Omit<RecordedCall, 'n'>): void {
    this.#db.statements.note.run(at, route, path, status, applied ? 1 : 0, marker ?? null, fault ?? null);
  }

  /** The newest calls, in their order. */
  calls(limit: number): RecordedCall[] {
    const rows = this.#db.statements.calls.all(limit) as unknown as CallRow[];
    return rows.reverse().map(({ applied, marker, fault, ...call }) => ({
      ...call,
      applied: applied === 1,
      ...(marker === null ? {} : { marker }),
      ...(fault === null ? {} : { fault }),
    }));
  }

  /** Number of times each marked call was applied. */
  applied(limit: number): Record<string, number> {
    const rows = this.#db.statements.applied.all(limit);
    return Object.fromEntries(rows.map(({ marker, n }) => [String(marker), Number(n)]));
  }

  close(): void {
    this.#db.close();
  }
}

function itemOf<Value>(row: Record<string, unknown>): StoredItem<Value> {
  return { id: Number(row.id), value: JSON.parse(String(row.value)) as Value };
}
