/**
 * One target of a listener: some documents, or a query. Keeps what was sent last, and returns the changes. Reads a database at one
 * moment; independent of streams and messages.
 */
import { matches, withinCursors } from '../../model/query/match.ts';
import type { Query } from '../../model/query/query.ts';
import { parseDocument } from '../../model/resource-name.ts';
import type { StoredDocument } from '../../storage/document-storage.ts';
import { decodeDocument } from '../../wire/document-codec.ts';
import type { Database, DocumentAddress } from '../database.ts';
import { inScope, runQueryPlan } from '../query-runner.ts';
import type { Snapshot } from '../transactions/snapshot.ts';

export type TargetScope =
  | { readonly kind: 'documents'; readonly documents: readonly DocumentAddress[] }
  | { readonly kind: 'query'; readonly query: Query };

/** A document of the target; without `stored` it has left the target. */
export interface TargetChange {
  readonly name: string;
  readonly stored: StoredDocument | undefined;
}

/** Names of changed documents, or `everything` if there are too many. */
export type Changed = ReadonlySet<string> | 'everything';

type ShownDocuments = ReadonlyMap<string, StoredDocument>;

export class Target {
  readonly id: number;
  readonly once: boolean;
  readonly scope: TargetScope;
  /** Update times of the sent documents, by name. */
  readonly #shown = new Map<string, number>();

  constructor(id: number, scope: TargetScope, once: boolean) {
    this.id = id;
    this.scope = scope;
    this.once = once;
  }

  /** Number of documents shown to the listener. */
  get size(): number {
    return this.#shown.size;
  }

  /**
   * Treats the state at `since` as sent. Absent: nothing was sent.
   *
   * @throws FAILED_PRECONDITION when an index is missing
   */
  resume(database: Database, since: Snapshot): void {
    for (const [name, { updateTime }] of this.#read(database, since)) this.#shown.set(name, updateTime);
  }

  /** Changes since the last update. @throws FAILED_PRECONDITION when an index is missing */
  update(database: Database, changed: Changed): TargetChange[] {
    if (changed !== 'everything') {
      const touched = [...changed].filter((name) => this.mayShow(name));
      if (touched.length === 0) return [];
      if (this.#standsAlone())
        return touched.flatMap((name) => this.#compare(name, this.#own(database, name)));
      if (!touched.some((name) => this.#mayMove(database, name))) return [];
    }
    const now = this.#read(database, undefined);
    const removedNames = [...this.#shown.keys()].filter((name) => !now.has(name));
    return [...removedNames, ...now.keys()].flatMap((name) => this.#compare(name, now.get(name)));
  }

  /** Missing documents that were requested by name; reported to a listener once. */
  missing(): string[] {
    if (this.scope.kind === 'query') return [];
    return this.scope.documents.map(({ name }) => name).filter((name) => !this.#shown.has(name));
  }

  #compare(name: string, stored: StoredDocument | undefined): TargetChange[] {
    if (stored?.updateTime === this.#shown.get(name)) return [];
    if (stored) this.#shown.set(name, stored.updateTime);
    else this.#shown.delete(name);
    return [{ name, stored }];
  }

  /** False if no change of this document can change the target. */
  mayShow(name: string): boolean {
    if (this.scope.kind === 'query') return inScope(this.scope.query.scope, name);
    return this.scope.documents.some((document) => document.name === name);
  }

  /** Returns true if a document's position in the target depends only on itself, not on the number of others. */
  #standsAlone(): boolean {
    return (
      this.scope.kind === 'documents' ||
      (this.scope.query.limit === undefined && this.scope.query.offset === 0)
    );
  }

  /** Returns true if a changed document can change the result of a query with a limit or offset. */
  #mayMove(database: Database, name: string): boolean {
    // The change may concern a document that the offset skipped.
    if (this.scope.kind === 'query' && this.scope.query.offset > 0) return true;
    return this.#shown.has(name) || this.#own(database, name) !== undefined;
  }

  /** The document if it belongs to the target, regardless of limit and offset. */
  #own(database: Database, name: string): StoredDocument | undefined {
    const stored = database.get({ name, segments: parseDocument(name).segments });
    if (!stored || this.scope.kind === 'documents') return stored;
    const candidate = { name, fields: decodeDocument(stored.body).fields };
    const { query } = this.scope;
    return matches(query, candidate) && withinCursors(query, candidate) ? stored : undefined;
  }

  #read(database: Database, snapshot: Snapshot | undefined): ShownDocuments {
    if (this.scope.kind === 'documents') {
      return new Map(
        this.scope.documents.flatMap((address) => {
          const stored = database.get(address, snapshot);
          return stored ? [[address.name, stored] as const] : [];
        }),
      );
    }
    const { query } = this.scope;
    const count = query.limit === undefined ? Number.POSITIVE_INFINITY : query.offset + query.limit;
    const found = runQueryPlan(database, query, { count, snapshot }).slice(query.offset);
    return new Map(found.map(({ name, stored }) => [name, stored]));
  }
}
